"""The settings of every workload as types, for editors and mypy. Written by tools/settings_types.py.

Which of them a problem knows, with its values, `sagips.settings(problem)` says."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict


class LayerBatchNorm(TypedDict, total=False):
    momentum: float
    """weight of a batch in the running mean and variance"""
    epsilon: float
    """added to the variance"""


class LayerLayerNorm(TypedDict, total=False):
    dimensions: int
    """how many of a sample's last dimensions it takes together"""
    epsilon: float
    """added to the variance"""


class LayerBranches(TypedDict, total=False):
    layers: Sequence[Layer]
    """one behind the other; none: what goes in comes out"""
    input: str
    """tensor that it takes, where there are several; empty: that of the branch's name"""


class LayerInteraction(TypedDict, total=False):
    messages: Sequence[Layer]
    """dense layers on the numbers of a receiver and a sender; what they make is summed over all senders but the
    receiver itself"""
    objects: Sequence[Layer]
    """layers on each particle's numbers and, behind them, the sum of its messages; none: the sums alone come out"""
    sum: bool
    """adds up what all particles make"""
    skip_empty: bool
    """particles whose numbers are all 0 send and receive nothing and end as 0"""


class Layer(TypedDict, total=False):
    dense: int
    """outputs of a fully connected layer"""
    activation: Literal["elu", "gelu", "leaky_relu", "none", "relu", "selu", "sigmoid", "silu", "softplus", "tanh"]
    """function of each output"""
    negative_slope: float
    """of leaky_relu, below zero"""
    bias: bool
    """adds a bias"""
    initial: (Literal["default", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal",
        "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "xavier_normal", "xavier_uniform"])
    """distribution that weights begin from, with biases of 0; default: PyTorch's of the layer"""
    repeat: int
    """so many of it one behind the other; 0: left out"""
    flatten: Mapping[str, Any]
    """one long row"""
    reshape: int | Sequence[int]
    """the same numbers as a sample of this shape"""
    dropout: float
    """share of the numbers that training leaves out"""
    batch_norm: LayerBatchNorm
    """each channel shifted and scaled by its mean and deviation over the batch"""
    layer_norm: LayerLayerNorm
    """the numbers of a sample shifted and scaled by their mean and deviation"""
    embedding: int
    """numbers that are learned for each whole number of its input"""
    numbers: int
    """how many whole numbers there are, from 0"""
    convolution: int
    """channels that it makes"""
    padding: int | Sequence[int] | Literal["same"]
    """zeros put on both sides of its input: one number, one for each dimension, or two for each (before and behind);
    same: so that as much comes out as goes in (over the stride), an odd zero behind"""
    kernel: int | Sequence[int]
    """its width in each dimension, or one for all"""
    stride: int | Sequence[int]
    """steps from one place to the next"""
    dilation: int | Sequence[int]
    """steps from one of the kernel's numbers to the next"""
    groups: int
    """parts of the channels, each of which sees its own part alone"""
    transposed_convolution: int
    """channels that it makes"""
    output_padding: int | Sequence[int]
    """added to one side of its output"""
    max_pooling: int | Sequence[int]
    """the largest number of each box of this size"""
    average_pooling: int | Sequence[int]
    """the mean of each box of this size"""
    upsampling: int | Sequence[int]
    """times that each number is repeated in each dimension"""
    gru: int
    """units of a recurrent layer over samples [steps, features]"""
    sequences: bool
    """its output at every step; false: at the last one"""
    bidirectional: bool
    """a second one from the last step to the first, its output behind the other's"""
    reset_after: bool
    """the reset gate acts behind the hidden weights, as in PyTorch and cuDNN; false: before them, as published"""
    hidden_bias: bool
    """a second bias, on what the state is multiplied by, as in PyTorch; false: one alone, as in Keras"""
    lstm: int
    """units of a recurrent layer over samples [steps, features]"""
    forget_bias: float | None
    """bias that the forget gate begins with, the others with 0 (Keras: 1); null: as all"""
    rnn: int
    """units of a recurrent layer over samples [steps, features]"""
    residual: Sequence[Layer]
    """layers whose output is added to their input"""
    shortcut: Sequence[Layer]
    """layers that the input goes through before it is added, where its shape changes"""
    branches: Mapping[str, LayerBranches]
    """chains of layers beside each other"""
    join: Literal["concatenate", "add", "none"]
    """what is made of their outputs: one behind the other, their sum, or none: several tensors of their names"""
    dimension: int
    """of a sample, from 0, along which they follow each other; -1: the last one"""
    interaction: LayerInteraction
    """particles of a sample [particles, numbers] that tell each other messages"""
    module: str
    """name of a torch::nn module that the program or its plug-in has"""
    settings: Mapping[str, float]
    """numbers that a Python function which makes it gets by name"""
    script: str | os.PathLike[str]
    """TorchScript module, a .pt file"""
    arguments: str | float | Sequence[str | float]
    """how a row is cut where forward takes several tensors: [100x16, 6]"""
    outputs: str | float | Sequence[str | float]
    """names of the tensors of a tuple that forward gives"""


class Run(TypedDict, total=False):
    folder: str
    """where runs are kept: <folder>/<workload>/<name>"""
    name: str
    """name of this run's folder; empty: the local time"""
    seed: int
    """every random number of the run follows from it"""
    figures: bool
    """draw figures at the end of the run (needs gnuplot)"""
    fit: bool
    """fit the same events by maximum likelihood beside a training, where the density is known"""
    tensorboard: bool
    """write event files for TensorBoard while training"""


class Figures(TypedDict, total=False):
    width: Literal["screen", "column", "page"]
    """how wide figures are: screen, or a paper's column (8.6 cm) or page (17.8 cm), then with PNG at 300 dpi"""
    font_size: float
    """of every text in figures for paper [pt]"""


class DataCache(TypedDict, total=False):
    folder: str | os.PathLike[str]
    """on a disk of this node, shared by its processes; '' is sagips-cache-UID in TMPDIR"""
    limit_GB: float
    """what the files of the folder may take together"""
    copy: str
    """copies a file of another machine (s3://..., root://...), the first {}, to the second, as 'xrdcp {} {}' does"""
    copy_minutes: float
    """a copy that takes longer has failed"""


class DataInputsTensors(TypedDict, total=False):
    file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    """.npy, .csv, .hdf5, .h5 or idx; .csv.gz and idx .gz; several: a list, a pattern (train_*.h5), or a .txt with a
    file a line"""
    hdf5_dataset: str
    """path of the array inside an HDF5 file, or of a group: its arrays follow each other in a row, by name"""
    columns: str | float | Sequence[str | float]
    """of a table: names of its header, else numbers from 0; empty: all that the targets leave"""
    shape: int | Sequence[int]
    """lengths of a row's dimensions, [1, 28, 28]; empty: as in the file"""
    select: str
    """what is kept of each dimension of a row, as NumPy writes it: '0:40, 3:'; empty: all"""
    reorder: int | Sequence[int]
    """a row's dimensions in another order, from 0: [1, 0]"""
    divide_by: float | None
    """every number is divided by this, 255 for bytes of images; null: by nothing, or as the other rows are"""
    script: str | os.PathLike[str]
    """TorchScript module that makes other rows of them, [rows, ...] to [rows, ...]"""
    standardise: bool
    """false: data.standardise leaves it as it is"""


class DataInputs(TypedDict, total=False):
    file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    """.npy, .csv, .hdf5, .h5 or idx; .csv.gz and idx .gz; several: a list, a pattern (train_*.h5), or a .txt with a
    file a line"""
    hdf5_dataset: str
    """path of the array inside an HDF5 file, or of a group: its arrays follow each other in a row, by name"""
    columns: str | float | Sequence[str | float]
    """of a table: names of its header, else numbers from 0; empty: all that the targets leave"""
    shape: int | Sequence[int]
    """lengths of a row's dimensions, [1, 28, 28]; empty: as in the file"""
    select: str
    """what is kept of each dimension of a row, as NumPy writes it: '0:40, 3:'; empty: all"""
    reorder: int | Sequence[int]
    """a row's dimensions in another order, from 0: [1, 0]"""
    divide_by: float | None
    """every number is divided by this, 255 for bytes of images; null: by nothing, or as the other rows are"""
    script: str | os.PathLike[str]
    """TorchScript module that makes other rows of them, [rows, ...] to [rows, ...]"""
    tensors: Mapping[str, DataInputsTensors]
    """several by names of yours, in place of one file"""


class DataWeights(TypedDict, total=False):
    file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    """.npy, .csv, .hdf5, .h5 or idx; .csv.gz and idx .gz; several: a list, a pattern (train_*.h5), or a .txt with a
    file a line"""
    hdf5_dataset: str
    """path of the array inside an HDF5 file, or of a group: its arrays follow each other in a row, by name"""
    columns: str | float | Sequence[str | float]
    """of a table: names of its header, else numbers from 0; empty: all that the targets leave"""
    shape: int | Sequence[int]
    """lengths of a row's dimensions, [1, 28, 28]; empty: as in the file"""
    select: str
    """what is kept of each dimension of a row, as NumPy writes it: '0:40, 3:'; empty: all"""
    reorder: int | Sequence[int]
    """a row's dimensions in another order, from 0: [1, 0]"""
    divide_by: float | None
    """every number is divided by this, 255 for bytes of images; null: by nothing, or as the other rows are"""
    script: str | os.PathLike[str]
    """TorchScript module that makes other rows of them, [rows, ...] to [rows, ...]"""


class Data(TypedDict, total=False):
    held_out: float
    """share of the rows that is kept aside for evaluations, where they have no files; 0: none, and no evaluations"""
    seed: int
    """of which rows are kept aside, and of what is drawn; -1: run.seed"""
    fold: str
    """'2/5': the second of five parts is kept aside; empty: held_out"""
    showers: Literal["drawn", "clic", "calo_challenge"]
    """drawn: made as they are read; of HDF5 files: as the 3DGAN has them, or as the CaloChallenge, whose X, Y and Z are
    radius, angle and layer"""
    rows: int
    """drawn showers to learn from"""
    validation_rows: int
    """further ones for evaluations"""
    shape: int | Sequence[int]
    """cells along X, Y and Z; layers follow each other along Z"""
    cell_mm: float
    """width of a cell along X and Y"""
    layer_mm: float
    """depth of a layer"""
    layer_radiation_lengths: float
    """the same in radiation lengths"""
    moliere_radius_mm: float
    """of absorber, silicon and gaps together"""
    lowest_energy_GeV: float
    """energies are uniform from here on"""
    highest_energy_GeV: float
    """up to here"""
    lowest_angle_deg: float
    """polar angles are uniform from here on"""
    highest_angle_deg: float
    """up to here; 90: along Z"""
    sampling_fraction: float
    """what cells see of the energy lost in their layer"""
    resolution: float
    """sigma / E at 1 GeV by sampling alone"""
    threshold_GeV: float
    """cells with less energy are 0"""
    unit_GeV: float
    """cells are divided by it (0.02: as in the files of the 3DGAN)"""
    power: float
    """then raised to it (0.85 in the 3DGAN)"""
    file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    """showers to learn from; also a pattern (Ele_*.h5), or a list"""
    validation_file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    """showers of the evaluations; empty: rows kept aside"""
    memory_GB: float
    """rows that take more of a node in single precision are read from their files again in each epoch"""
    cache: DataCache
    """copies of files on a disk of this machine"""
    images: Literal["digits", "fashion", "shapes", "tracks"]
    """handwritten digits 1 x 8 x 8; clothes 1 x 28 x 28; drawn figures 3 x 32 x 32; drawn tracks of a detector 5 x 150
    x 94"""
    standardise: Literal["false", "inputs", "targets", "true"] | bool
    """makes numbers of mean 0 and deviation 1, by the rows to learn from (of rows of one or two dimensions each number
    by itself, of images each channel); what is predicted and judged but the loss is in the data's units; true: inputs,
    and targets where these are values in any unit"""
    hdf5_dataset: str
    """data set, or group of the columns, inside an HDF5 file"""
    columns: str | float | Sequence[str | float]
    """observables: names in .csv and in a group of HDF5 data sets, else numbers from 0; [] takes the workload's own"""
    cuts: str | float | Sequence[str | float]
    """conditions that every kept event fulfils, such as '70 < M < 110'"""
    weight_column: str
    """column of event weights; '' for none"""
    reference: Mapping[str, float]
    """named numbers that the objective compares with, e.g. norm_1"""
    maximum_events: int
    """only the first ones that pass the cuts; 0: all"""
    fraction: float
    """share of the events that is kept, drawn without replacement"""
    bootstrap: bool
    """draw as many events again, with replacement (Efron)"""
    bootstrap_seed: int
    """seed of the bootstrap; -1: data.seed"""
    inputs: DataInputs
    """what the network sees"""
    targets: DataInputs
    """what it learns: numbers of classes from 0, or values"""
    weights: DataWeights
    """how much each row counts in the loss; without a file: 1"""
    validation_inputs: DataInputs
    """inputs of the evaluations; without a file: rows kept aside"""
    validation_targets: DataInputs
    """targets of the evaluations"""
    validation_weights: DataWeights
    """weights of the evaluations"""
    classes: str | float | Sequence[str | float]
    """names of the classes, from 0; empty: their numbers"""
    join: bool
    """the validation files are read behind the others, as these are, and rows of all are kept aside"""
    split_by: str
    """what is kept aside as a whole: rows, files, or the rows of equal numbers in a column (of HDF5 a data set) of that
    name"""
    jets: Literal["toys", "files"]
    """toys: drawn, with one, two and three prongs; files: HDF5 as JEDI-net has it"""
    form: Literal["particles", "image", "numbers", "points", "channels"]
    """16 numbers of each of the hardest particles; 1 x 100 x 100 around the axis; 16 numbers of the whole jet"""
    particles: int
    """the hardest ones that a row has; zeros where there are fewer"""
    lowest_pt_GeV: float
    """drawn jets: evenly from this transverse momentum"""
    highest_pt_GeV: float
    """to this"""
    strong_coupling: float
    """of drawn jets: how much they radiate"""
    least_kt_GeV: float
    """transverse momentum that a radiated gluon has at least"""
    curves: Literal["toys", "files"]
    """toys: drawn; files: rows of all points (strain, stress, flag), then strength and exponent"""
    points: int
    """of a curve"""
    law: Literal["hollomon", "root"]
    """stress = strength strain^exponent, or strength strain^(1 / exponent)"""
    lowest_strength: float
    """drawn curves: evenly from this strength [MPa]"""
    highest_strength: float
    """to this"""
    lowest_exponent: float
    """evenly from this exponent"""
    highest_exponent: float
    """to this"""
    largest_strain: float
    """of the last point of a curve without failure"""
    earliest_failure: float
    """curves fail evenly from this share of the largest strain to all of it"""
    noise: float
    """standard deviation of a stress [MPa]"""
    strains: Literal["even", "random"]
    """at equal distances, or drawn evenly and sorted"""


class GeneratorOptimizer(TypedDict, total=False):
    rule: Literal["adam", "adamw", "rmsprop", "sgd", "adadelta"]
    """how gradients move weights"""
    learning_rate: float
    """step size"""
    beta1: float
    """Adam: memory of the gradient's mean (authors' tool kit: 0.5)"""
    beta2: float
    """Adam: memory of the gradient's square (authors' tool kit: 0.999)"""
    epsilon: float
    """smallest denominator of Adam, RMSprop and Adadelta (Adadelta usually: 1e-6)"""
    momentum: float
    """SGD and RMSprop: memory of earlier steps"""
    nesterov: bool
    """SGD: looks ahead along the momentum"""
    decay: float
    """RMSprop and Adadelta: memory of the gradient's square"""
    weight_decay: float
    """pulls all weights, biases too, to 0: this share of the learning rate in each update with adamw (usually 0.01);
    elsewhere this times the weights is added to the gradient; 0: none"""
    clip_norm: float
    """longest gradient of the network (of several networks, of each by itself), after the exchange between ranks; a
    longer one is shortened to it; 0: none"""
    schedule: Literal["constant", "cosine", "steps", "plateau"]
    """how the learning rate changes: not at all, along a cosine to final_rate, by drop_factor at each of drop_at, or by
    drop_factor where evaluations stop getting better"""
    final_rate: float
    """share of the learning rate left at the last epoch (schedule=cosine)"""
    drop_at: float | Sequence[float]
    """shares of the run after which the rate drops (schedule=steps)"""
    drop_factor: float
    """what a drop multiplies the rate with"""
    patience: int
    """evaluations without a better metric (early_stop.metric) before the rate drops (schedule=plateau)"""
    warm_up: int
    """first updates, over which the rate rises evenly to its full size; 0: none"""
    batches_per_update: int
    """batches whose gradients are averaged, row by row, for one update and one exchange between ranks; fewer at a run's
    end wait for it to go on"""
    optimistic: bool
    """Adam extrapolates from the last step, w - 2 rate d_t + rate d_(t-1), which damps circles around the equilibrium
    (Daskalakis et al., ICLR 2018)"""


class Generator(TypedDict, total=False):
    noise: int
    """normal numbers that an example is made of, behind its conditions"""
    conditions: str | float | Sequence[str | float]
    """targets of the rows that are its first inputs: values as they are, classes as a 1 among zeros; a class is what a
    head with a loss of classes compares"""
    layers: Sequence[Layer] | int | Sequence[Layer | Callable[..., Any]]
    """layers one behind the other, each by its kind: dense, flatten, reshape, dropout, batch_norm, layer_norm,
    embedding, activation, convolution, transposed_convolution, max_pooling, average_pooling, upsampling, gru, lstm,
    rnn, residual, branches, interaction, module, script"""
    optimizer: GeneratorOptimizer
    """its updates, `generator_updates` in a step"""
    width: int
    """neurons of each hidden layer (SAGIPS paper: 128)"""
    negative_slope: float
    """slope of LeakyReLU below zero (authors' tool kit: 0.2)"""
    hidden_layers: Sequence[Layer] | Sequence[Layer | Callable[..., Any]]
    """in place of width, layers and negative_slope, layers one behind the other, each by its kind: dense, flatten,
    reshape, dropout, batch_norm, layer_norm, embedding, activation, convolution, transposed_convolution, max_pooling,
    average_pooling, upsampling, gru, lstm, rnn, residual, branches, interaction, module, script"""
    start: Literal["random", "moments"]
    """where the proposals begin: random weights (SAGIPS paper), or the solution of the moments, scattered by its
    errors"""
    finish: Literal["networks", "moments"]
    """a run's answer: the mean proposal (SAGIPS paper), or the solution of the moments next to it, with the
    discriminators' outputs among the features"""
    noise_dimensions: int
    """numbers of an input noise vector (authors' tool kit: 6)"""
    shared: Literal["weights_only", "all", "none"]
    """what ranks exchange of this network (SAGIPS paper: weights, not biases)"""
    spread_penalty: float
    """weight of the proposals' variance in the loss: draws the generator to a point where spread and a smearing
    parameter look alike (after arXiv 1707.07113); 0: off (SAGIPS paper)"""
    average: float
    """memory of a running mean of the weights, which predicts in place of the last weights: 0.99 averages some 100
    epochs (Yazici et al., ICLR 2019); 0: off"""


class DiscriminatorReal(TypedDict, total=False):
    layers: Sequence[Layer]
    """behind the network; none: a dense layer on all its numbers"""
    weight: float
    """factor of its binary cross entropy in the sum"""


class DiscriminatorHeads(TypedDict, total=False):
    layers: Sequence[Layer]
    """behind the network; none: it is the network's output of this name"""
    loss: str
    """what is made small, as without heads"""
    label_smoothing: float
    """cross_entropy: share of a label that is spread evenly over all classes"""
    class_weights: str | float | Sequence[str | float]
    """cross_entropy: how much a row of each class counts, [1, 9.5, ...], or balanced: all classes alike (divided by
    their mean over the rows to learn from; metrics but the loss go without); empty: all rows alike"""
    weight: float
    """factor of its loss in the sum over all heads"""
    target: str
    """one of data.targets.tensors; empty: the one of its name"""
    names: str | float | Sequence[str | float]
    """of its classes, from 0, or of its values; empty: their numbers"""


class DiscriminatorGradientPenalty(TypedDict, total=False):
    kind: Literal["none", "r1", "r2", "r1_r2", "wasserstein"]
    """price on the slope of the discriminator's output: its square at measured (r1) or synthetic events (r2), Mescheder
    et al., ICML 2018; its distance from 1 between them (wasserstein), Gulrajani et al., NeurIPS 2017"""
    factor: float
    """what it counts: gamma of r1 and r2 (half of it is taken), lambda of wasserstein"""
    every: int
    """epochs from one penalty to the next, which counts as many times: saves computing (lazy regularisation, Karras et
    al., CVPR 2020)"""


class Discriminator(TypedDict, total=False):
    layers: Sequence[Layer] | int | Sequence[Layer | Callable[..., Any]]
    """layers one behind the other, each by its kind: dense, flatten, reshape, dropout, batch_norm, layer_norm,
    embedding, activation, convolution, transposed_convolution, max_pooling, average_pooling, upsampling, gru, lstm,
    rnn, residual, branches, interaction, module, script"""
    real: DiscriminatorReal
    """its output that tells real examples from made ones (a logit)"""
    heads: Mapping[str, DiscriminatorHeads]
    """further outputs that tell a condition from an example, by names of yours: both networks make their losses
    small"""
    optimizer: GeneratorOptimizer
    """its updates, two in a step"""
    width: int
    """neurons of each hidden layer (SAGIPS paper: 128)"""
    negative_slope: float
    """slope of LeakyReLU below zero (authors' tool kit: 0.2)"""
    hidden_layers: Sequence[Layer] | Sequence[Layer | Callable[..., Any]]
    """in place of width, layers and negative_slope, layers one behind the other, each by its kind: dense, flatten,
    reshape, dropout, batch_norm, layer_norm, embedding, activation, convolution, transposed_convolution, max_pooling,
    average_pooling, upsampling, gru, lstm, rnn, residual, branches, interaction, module, script"""
    input: Literal["raw", "standardised"]
    """observables as they are, or shifted and scaled to mean 0 and deviation 1 of the data"""
    exchange: str
    """how ranks exchange its gradients, see `exchange`; none: each rank has its own network (SAGIPS paper)"""
    shared: Literal["weights_only", "all", "none"]
    """what ranks exchange of this network, if they do"""
    gradient_penalty: DiscriminatorGradientPenalty
    """keeps the discriminator from turning too sharply where events differ by little"""
    spectral_norm: bool
    """divides each weight matrix by its largest singular value after each update, so that the output changes by no more
    than the input (after Miyato et al., ICLR 2018)"""
    instance_noise: float
    """normal noise on all events that the discriminator sees, in deviations of the data; fades linearly to 0 at the
    last of train.epochs (Soenderby et al., ICLR 2017)"""


class Measures(TypedDict, total=False):
    loss: str
    """how it is compared with its condition, as a head's"""
    weight: float
    """factor of its loss in the generator's sum; 0: it is left out"""
    target: str
    """the condition; empty: the one of its name"""


class Batch(TypedDict, total=False):
    samples: int
    """parameter samples of an epoch (SAGIPS paper: 1024)"""
    events: int
    """events of each parameter sample (SAGIPS paper: 100)"""
    over_ranks: Literal["each", "divided"]
    """each rank draws so many samples, or they are divided among the ranks (SAGIPS paper, eq. (10))"""
    noise: Literal["pseudo_random", "sobol"]
    """random numbers of the pipelines; sobol: points that fill the unit cube evenly, scrambled anew each epoch (best
    with a power of two of events)"""


class ExchangesCompressed(TypedDict, total=False):
    form: Literal["float16", "bfloat16", "top_k"]
    """what is sent: numbers of 16 bits (float16 is finer, bfloat16 has the range of float32), or the largest numbers
    alone"""
    share: float
    """top_k: share of the numbers that is sent"""
    error_feedback: bool
    """what rounding and leaving out has cost is added to the next gradient"""


class ExchangesDoubleTree(TypedDict, total=False):
    segment_floats: int
    """floats that travel at a time along a tree"""


class ExchangesRmaRing(TypedDict, total=False):
    max_age: int
    """epochs of the fastest rank after which what a rank has shown is dropped"""


class ExchangesGossip(TypedDict, total=False):
    form: Literal["synchronous", "one_sided"]
    """wait for the peer, or take what it has last shown"""
    max_age: int
    """one_sided: epochs of the fastest rank after which what a rank has shown is dropped"""


class ExchangesGrouped(TypedDict, total=False):
    inner: str
    """exchange within a group, every epoch"""
    outer: str
    """exchange between the leaders of groups, every outer_every epochs"""
    group_size: int
    """consecutive ranks of a group (the last may be smaller), for lanes as well; 0: the ranks of each node"""
    outer_every: int
    """epochs from one outer exchange to the next"""
    leader: Literal["fixed", "drawn"]
    """who speaks for a group: its first rank, or one drawn anew for each outer epoch"""
    rule: Literal["inner_then_outer_then_broadcast", "inner_then_outer", "outer_only"]
    """what happens on an outer epoch"""


class ExchangesAveraged(TypedDict, total=False):
    inner: str
    """exchange of every epoch"""
    mean: str
    """exact exchange that averages the weights"""
    every: int
    """epochs from one averaging of weights to the next"""


class ExchangesServedGem(TypedDict, total=False):
    learning_rate: float
    """rate of a worker's own steps"""
    momentum: float
    """of a worker's own steps"""
    kappa: float
    """how much faster than one worker the central may move"""
    clamp: float
    """the most by which a worker's step is stretched"""


class ExchangesServed(TypedDict, total=False):
    rule: Literal["downpour", "easgd", "gem"]
    """gradients for the optimizer of the central weights; weights that pull at them; steps that are scaled by how far
    they have gone"""
    owners: Literal["all", "nodes", "master"]
    """who owns a piece of the central weights: every rank, the first of each node, or ranks that do nothing else"""
    masters: int
    """owners: master: how many ranks own a piece each"""
    groups: int
    """owners: master: sub-masters, each with central weights and workers of its own; 0: none"""
    parent_every: int
    """updates of a sub-master from one exchange with rank 0 to the next"""
    ranks_per_worker: int
    """ranks that work as one, on a batch each"""
    inner: str
    """exact exchange between the ranks that work as one"""
    every: int
    """updates from one exchange to the next"""
    synchronous: bool
    """all workers come before the central weights move"""
    force: float
    """easgd: how strongly all workers together pull at the central weights"""
    gem: ExchangesServedGem
    """rule: gem"""


class ExchangesAuto(TypedDict, total=False):
    repeats: int
    """times that each candidate is measured"""


class Exchanges(TypedDict, total=False):
    learning_rate_scaling: Literal["none", "linear", "square_root"]
    """with an exact exchange: factor of the generator's or the network's learning rate, 1, the number of ranks, or its
    square root"""
    running_statistics: Literal["kept", "averaged"]
    """with an exact exchange: batch norm's means and variances are each rank's own (the first rank's are judged and
    saved), or are averaged over ranks at each update of their network"""
    batch_norm: Literal["each_rank", "over_ranks"]
    """with exact exchanges: batch norms take means and variances over a rank's own rows of a batch, or over those of
    all ranks, which then meet in each such layer"""
    memory: Literal["host", "gpu"]
    """where gradients of GPUs are exchanged: host, in their machine's memory, for every exchange; gpu: they stay there,
    with exchange=all_reduce by NCCL, or by an MPI that reaches GPUs"""
    compressed: ExchangesCompressed
    """the mean with fewer bytes"""
    double_tree: ExchangesDoubleTree
    """two trees"""
    rma_ring: ExchangesRmaRing
    """one-sided ring"""
    gossip: ExchangesGossip
    """weights mixed with one peer an epoch"""
    grouped: ExchangesGrouped
    """inner and outer exchange; arar_arar and rma_arar_arar set inner and outer"""
    averaged: ExchangesAveraged
    """an exchange with weights averaged now and then"""
    served: ExchangesServed
    """workers and central weights: Downpour, EASGD, GEM"""
    auto: ExchangesAuto
    """the fastest exact exchange, measured at the start"""


class Ranks(TypedDict, total=False):
    timeout_s: float
    """a rank that others wait for, or that shows no sign of life, for so long ends the job [s]"""
    data: Literal["distributed", "sharded"]
    """rank 0 reads all events and sends them, or each rank reads its own rows of the file"""
    channels: Literal["all", "divided"]
    """each rank works on all data sets, or rank r on number r mod data sets; then groups of ranks that exchange must
    hold them all"""
    fraction: float | None
    """share of the training events that each rank draws without replacement; null: 0.5, and 1 for all_reduce, for
    shards and for a single rank"""


class TrainEngine(TypedDict, total=False):
    tile_samples: int
    """parameter samples, or rows, evaluated at a time; results differ only by summation order; 0: some ten thousand
    events or rows, cut so that threads end together"""


class TrainCheckpoints(TypedDict, total=False):
    epochs: int
    """epochs between checkpoints; 0: by time alone"""
    minutes: float
    """wall-clock time between checkpoints [min]; 0: by epochs alone. Stops and the last epoch write one, too; both 0:
    none, and what is stopped is over"""
    keep: int
    """complete checkpoints that are kept"""


class Train(TypedDict, total=False):
    epochs: int
    """epochs at most (SAGIPS paper: 100000); 0: no limit"""
    minutes: float
    """training time at most [min]; where epochs are left then, the same command goes on for as long again; 0: no
    limit"""
    evaluate_every: int
    """epochs between evaluations; 0: a fiftieth of the epochs"""
    snapshots: int
    """generators kept with their training time, at evaluations from the start to the end (SAGIPS paper: 21); 0: none"""
    timeline: int
    """first epochs of which a trace is written; 0: none"""
    monitor: bool
    """measure processors, memory, GPUs and network, twice a second on each rank"""
    non_finite: Literal["stop", "skip"]
    """when a gradient holds NaN or infinity: stop the run, or skip that update and count it"""
    engine: TrainEngine
    """how an epoch is evaluated"""
    checkpoints: TrainCheckpoints
    """what an interrupted run goes on from"""


class EarlyStop(TypedDict, total=False):
    metric: str
    """number of the evaluations that is watched: ks_mean, ks_OBSERVABLE, energy, NUMBER_residual; of a learning problem
    loss, accuracy, ... (what its evaluations print)"""
    better: Literal["usual", "lower", "higher"]
    """which way the metric gets better; usual: higher for accuracies and areas under curves, lower for all others"""
    patience: int
    """evaluations without a better metric before the run stops; 0: never"""
    rule: Literal["best", "means"]
    """better than the best so far, or the mean of the last `patience` evaluations than the mean of as many before
    (needs twice as many)"""
    improvement: float
    """share of the best metric by which another must be better to count (rule=best)"""
    target: float | None
    """the run stops as soon as the metric is as good as this; null: none"""
    restore: bool
    """of a learning problem: whatever ends it, its result is the network of the best evaluation and not that of the
    last epoch"""


class Compare(TypedDict, total=False):
    methods: str | float | Sequence[str | float]
    """one after the other: gan, or a solver; see `sagips list`"""
    minutes: float
    """time limit of each method"""


class Ensemble(TypedDict, total=False):
    members: int
    """trainings of each variant, also --members"""
    vary: Literal["seeds", "bootstrap", "both", "folds"]
    """what differs between members, also --vary: run.seed with the data unchanged, data drawn again with replacement,
    as many members of either kind, or, of a learning problem, which of `members` parts of the rows is kept aside"""
    grid: str | float | Sequence[str | float]
    """lists of values whose product are the variants: 'generator.width=32,64'; also --grid"""
    ranks: int
    """ranks of each member, also --ranks"""
    launcher: str
    """what starts a member of several ranks; {ranks} is their number. On Slurm: srun -n {ranks}"""
    at_once: int
    """members that train at the same time; 0: as the cores allow"""
    draws: int
    """sub-ensembles drawn of each size; SAGIPS paper, Sec. VI-B: 300"""


class TuneSpace(TypedDict, total=False):
    key: str
    """what trials differ in: a key of a training, as optimizer.learning_rate"""
    low: float | None
    """lowest value"""
    high: float | None
    """highest value"""
    log: bool
    """even on a logarithmic scale"""
    integer: bool
    """whole numbers alone"""
    values: str | float | Sequence[str | float]
    """in place of a range: what it may be"""
    ordered: bool
    """whether neighbours among the values are alike"""
    when: str
    """KEY=VALUE|VALUE of a key before it: counts only there; empty: always"""


class TuneBayesian(TypedDict, total=False):
    initial: int
    """points spread evenly before the first process; 0: 2 (n + 1) for n parameters, at least 8"""
    batch: int
    """points at a time"""
    gain: Literal["improvement", "lower_bound", "probability", "hedge"]
    """what the next point makes largest: the expected improvement, the score's lower confidence bound, the probability
    to improve, or NNLO's hedge between these"""
    candidates: int
    """random points from which the search for the next one starts"""
    climbs: int
    """best candidates that climb along the gradient"""
    climb_steps: int
    """steps of a climb"""


class TuneTpe(TypedDict, total=False):
    initial: int
    """even points before the first density"""
    good_share: float
    """share of the points that count as better"""
    most_good: int
    """points that count as better, at most"""
    candidates: int
    """drawn from the density of the better ones"""


class TuneAgeing(TypedDict, total=False):
    population: int
    """last points that live"""
    sample: int
    """of them, drawn at random, whose best one has a child"""
    step: float
    """deviation of a change, in units of the range"""


class TuneGenetic(TypedDict, total=False):
    population: int
    """best points that may be parents"""


class TuneEvolution(TypedDict, total=False):
    algorithm: Literal["cmaes", "sade", "de1220"]
    """of pagmo: covariance matrix adaptation, or self-adaptive differential evolution"""
    population: int
    """first population; 0: 4 + 3 ln n for cmaes (Hansen), 10 n for the others, n parameters"""
    deviation: float
    """cmaes: first one, in units of the parameters' ranges"""


class TuneGrid(TypedDict, total=False):
    steps: int
    """places on a continuous dimension"""


class TuneEarlyEnd(TypedDict, total=False):
    rule: Literal["none", "halving", "brackets", "median"]
    """asynchronous successive halving (ASHA), Hyperband's brackets of it, or worse than the median of the others"""
    first: float
    """epochs before the first look, over all folds"""
    factor: int
    """one trial of so many goes on, for so many times the epochs"""
    brackets: int
    """of them: each looks `factor` times later than the one before"""
    trials: int
    """median: of how many others at least"""


class TunePopulation(TypedDict, total=False):
    members: int
    """networks that train side by side; 0: no population"""
    legs: int
    """parts of a training, between which the members are compared"""
    share: float
    """of the members, that go on with the networks of as many of the best"""
    change: float
    """what numbers are multiplied with or divided by then"""
    anew: float
    """chance that a setting is drawn anew then"""


class Tune(TypedDict, total=False):
    space: Sequence[TuneSpace]
    """the keys that trials differ in, and what they may be"""
    minimise: str
    """the metric of the evaluations that is to be small"""
    maximise: str
    """or the one that is to be large"""
    trials: int
    """trainings, also --trials; a population has a member's legs times its members"""
    minutes: float
    """no trial begins later, also --minutes; 0: no limit"""
    target: float | None
    """a trial that is as good as this ends the study, also --target"""
    folds: int
    """trainings of a trial, each with another part of the rows kept aside"""
    seeds: int
    """trainings of a trial, each with the seed after the one before"""
    side_by_side: int
    """trainings of a trial, folds or seeds, that run at the same time, each on an equal part of its ranks"""
    searcher: Literal["ageing", "bayesian", "evolution", "genetic", "grid", "random", "sobol", "tpe", "auto"]
    """what chooses settings; auto: bayesian for up to ten numbers, tpe beyond and for words"""
    bayesian: TuneBayesian
    """Bayesian optimisation with a Gaussian process"""
    tpe: TuneTpe
    """tree-structured Parzen estimator"""
    ageing: TuneAgeing
    """ageing evolution"""
    genetic: TuneGenetic
    """NNLO's genetic search"""
    evolution: TuneEvolution
    """evolutionary search by pagmo"""
    grid: TuneGrid
    """every value with every other"""
    points: str | float | Sequence[str | float]
    """tried first: 'key=value, key=value', a value for every key that counts"""
    warm_start: str | os.PathLike[str]
    """folder of an earlier study whose trials are learned from"""
    early_end: TuneEarlyEnd
    """which trials end before their time"""
    population: TunePopulation
    """population-based training"""
    ranks: int
    """of each trial, also --block-ranks"""
    launcher: str
    """what starts a trial of several ranks where none are started; {ranks} is their number"""
    at_once: int
    """trials that run at the same time here; 0: as the cores allow"""
    lease_s: float
    """a worker without a sign of life for so long gives its trial back [s]"""


class Convergence(TypedDict, total=False):
    exchanges: str | float | Sequence[str | float]
    """exchanges to compare, also --exchanges; all_reduce averages the discriminators' gradients, too, as Horovod does
    (the synchronous baseline)"""
    ranks: int
    """ranks of each member, also --ranks"""
    members: int
    """trainings of each variant, which differ by their seeds; also --members"""
    outer_periods: int | Sequence[int]
    """values of exchanges.grouped.outer_every to compare (h of the SAGIPS paper), also --outer-periods"""
    over_ranks: int | Sequence[int]
    """numbers of ranks to compare, also --over-ranks; with 1 among them there is something to gain over"""
    batch: Literal["each", "divided", "both"]
    """of the scan over ranks, also --batch: each rank draws batch.samples, they are divided among the ranks (SAGIPS
    paper, eq. (10)), or one after the other"""
    redrawn: int
    """ensembles of redrawn members that give a suggested stop its uncertainty"""


class Scaling(TypedDict, total=False):
    ranks: int | Sequence[int]
    """numbers of ranks, 1 among them; also --ranks"""
    exchanges: str | float | Sequence[str | float]
    """exchanges to compare, also --exchanges; none: the config's"""
    mode: Literal["weak", "strong", "both"]
    """also --mode: each rank keeps the batch of one (weak), the batch is divided among them (strong), or one after the
    other"""
    launchers: str | float | Sequence[str | float]
    """placements to compare: what starts several ranks, in place of ensemble.launcher, e.g. 'mpirun -n {ranks} --map-by
    socket'; also --launcher, once for each"""
    batches: int | Sequence[int]
    """further batches of one rank, also --batches"""
    rates: str | float | Sequence[str | float]
    """how the learning rate follows those batches, also --rates: none, linear, square_root (Krizhevsky, arXiv
    1404.5997), warm_up (linear, after warm_up epochs: Goyal et al., arXiv 1706.02677)"""
    warm_up: int
    """epochs in which rates=warm_up comes to its learning rate"""
    repeats: int
    """trainings of each, which differ by their seeds; also --repeats"""
    simulate: int | Sequence[int]
    """further numbers of ranks, simulated on simulate.platform; also --simulate"""
    metric: str
    """what accuracy is measured by; empty: early_stop.metric"""
    target: float | None
    """of the metric, also --target: when it is reached; null: none"""
    price_per_hour: float
    """of a rank, in any currency; 0: not told"""
    power_W: float
    """that a rank takes [W]; 0: not told"""
    beside: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    """folders of other scaling studies to show beside this one, also --with"""
    published: str | float | Sequence[str | float]
    """published efficiencies to show beside: horovod, calorimeter, taurus, or a .csv file with columns label, ranks and
    efficiency"""
    jobs: Literal["none", "slurm"]
    """also --jobs: write job arrays for a batch system in place of training here; the same command gathers what they
    have done"""


class Closure(TypedDict, total=False):
    experiments: int
    """toy data sets, each solved anew; also --experiments"""
    method: str
    """what estimates the parameters: gan, or a solver (see `sagips list`); also --method"""
    members: int
    """with gan: networks of an experiment that differ by their seeds; also --members"""
    bootstraps: int
    """with gan: further networks of an experiment, on its data drawn again; 0: none"""


class SimulateScenario(TypedDict, total=False):
    compute_s: float
    """mean computation of an epoch, in seconds"""
    jitter: float
    """standard deviation of an epoch's computation over its mean; log-normal"""
    sample: float | Sequence[float]
    """measured computation times of epochs, in seconds; drawn from instead of compute_s and jitter"""
    straggler: int
    """a rank that is slower; -1: none"""
    slowdown: float
    """the straggler's computation over that of others"""
    pause_every: int
    """epochs between checkpoints of all ranks; 0: none"""
    pause_s: float
    """what a checkpoint takes, in seconds"""
    data_bytes: int
    """bytes of events that go to the GPU in each epoch, at the rate of the platform's gpu_copy"""
    overlap: Literal["none", "one_update_late"]
    """none: the exchange follows the computation; one_update_late: it goes on during the next epoch's"""
    polls: int
    """pieces of an epoch's computation; exchanges move between them"""
    seed: int
    """of computation times"""


class Simulate(TypedDict, total=False):
    exchanges: str | float | Sequence[str | float]
    """exchanges to simulate, also --exchanges; none: all that can run there, with --convergence rabenseifner and eight
    that wait less"""
    unfused: str | float | Sequence[str | float]
    """those of them that are simulated tensor by tensor, too, as the SAGIPS paper exchanges"""
    ranks: int | Sequence[int]
    """numbers of ranks, also --ranks; with --convergence 64 and 400 where none is named"""
    platform: str | os.PathLike[str]
    """the cluster, also --platform: polaris, fat_tree, ethernet, one_node, or a file"""
    epochs: int
    """epochs of each simulation, rounded up to whole periods of its exchange; 0: as few as show it"""
    at_once: int
    """simulations side by side; 0: the cores"""
    scenario: SimulateScenario
    """what a rank does beside its messages"""
    paper_gain: float
    """without scenario.compute_s and compute_from the computation of an epoch is set so that the ring, tensor by
    tensor, gains that from 4 to 400 ranks (SAGIPS paper, Sec. VI-C1: half of what grouping gains, which is some 80)"""
    compute_from: str | os.PathLike[str]
    """a run folder whose measured epochs are the computation times; of networks that learn from rows one of a single
    rank, whose epochs are cut into steps"""
    price_per_hour: float
    """of a rank's device, in any currency: what an epoch costs is told; 0: it is not"""
    late: bool
    """also simulate exact exchanges that are completed one update late"""
    stragglers: bool
    """also simulate one slow rank, as a leader and as a follower (scenario.slowdown)"""
    straggler_ranks: int
    """ranks of these simulations, at most"""
    seeds: int | Sequence[int]
    """with --convergence: of the trainings of each exchange"""
    as_floats: int
    """with --convergence: messages take the time of a network of so many shared numbers (the paper's: 51206); 0: their
    own"""


class Network(TypedDict, total=False):
    layers: Sequence[Layer] | Sequence[Layer | Callable[..., Any]]
    """layers one behind the other, each by its kind: dense, flatten, reshape, dropout, batch_norm, layer_norm,
    embedding, activation, convolution, transposed_convolution, max_pooling, average_pooling, upsampling, gru, lstm,
    rnn, residual, branches, interaction, module, script"""


class Networks(TypedDict, total=False):
    layers: Sequence[Layer] | Sequence[Layer | Callable[..., Any]]
    """layers one behind the other, each by its kind: dense, flatten, reshape, dropout, batch_norm, layer_norm,
    embedding, activation, convolution, transposed_convolution, max_pooling, average_pooling, upsampling, gru, lstm,
    rnn, residual, branches, interaction, module, script"""
    rate: float
    """times optimizer.learning_rate; 0: it stays as it begins"""
    exchange: str
    """how ranks exchange its gradients; empty: as `exchange` says"""
    start_from: str | os.PathLike[str]
    """as `start_from`, for this network alone"""


class Heads(TypedDict, total=False):
    layers: Sequence[Layer] | Sequence[Layer | Callable[..., Any]]
    """behind the network; none: it is the network's output of this name"""
    loss: str
    """what is made small, as without heads"""
    label_smoothing: float
    """cross_entropy: share of a label that is spread evenly over all classes"""
    class_weights: str | float | Sequence[str | float]
    """cross_entropy: how much a row of each class counts, [1, 9.5, ...], or balanced: all classes alike (divided by
    their mean over the rows to learn from; metrics but the loss go without); empty: all rows alike"""
    weight: float
    """factor of its loss in the sum over all heads"""
    target: str
    """one of data.targets.tensors; empty: the one of its name"""
    names: str | float | Sequence[str | float]
    """of its classes, from 0, or of its values; empty: their numbers"""


class Augment(TypedDict, total=False):
    flip: str | float | Sequence[str | float]
    """mirrors half of the images along each of these: horizontal, vertical, depth"""
    shift: int
    """moves images by up to so many pixels to each side; zeros follow"""
    crop: float
    """smallest share of each side that is cut out anywhere and enlarged to the whole; 1: none"""
    noise: float
    """deviation of Gaussian noise that is added to each number"""


class Optimizer(TypedDict, total=False):
    rule: Literal["adam", "adamw", "rmsprop", "sgd", "adadelta"]
    """how gradients move weights"""
    learning_rate: float
    """step size"""
    beta1: float
    """Adam: memory of the gradient's mean (authors' tool kit: 0.5)"""
    beta2: float
    """Adam: memory of the gradient's square (authors' tool kit: 0.999)"""
    epsilon: float
    """smallest denominator of Adam, RMSprop and Adadelta (Adadelta usually: 1e-6)"""
    momentum: float
    """SGD and RMSprop: memory of earlier steps"""
    nesterov: bool
    """SGD: looks ahead along the momentum"""
    decay: float
    """RMSprop and Adadelta: memory of the gradient's square"""
    weight_decay: float
    """pulls all weights, biases too, to 0: this share of the learning rate in each update with adamw (usually 0.01);
    elsewhere this times the weights is added to the gradient; 0: none"""
    clip_norm: float
    """longest gradient of the network (of several networks, of each by itself), after the exchange between ranks; a
    longer one is shortened to it; 0: none"""
    schedule: Literal["constant", "cosine", "steps", "plateau"]
    """how the learning rate changes: not at all, along a cosine to final_rate, by drop_factor at each of drop_at, or by
    drop_factor where evaluations stop getting better"""
    final_rate: float
    """share of the learning rate left at the last epoch (schedule=cosine)"""
    drop_at: float | Sequence[float]
    """shares of the run after which the rate drops (schedule=steps)"""
    drop_factor: float
    """what a drop multiplies the rate with"""
    patience: int
    """evaluations without a better metric (early_stop.metric) before the rate drops (schedule=plateau)"""
    warm_up: int
    """first updates, over which the rate rises evenly to its full size; 0: none"""
    batches_per_update: int
    """batches whose gradients are averaged, row by row, for one update and one exchange between ranks; fewer at a run's
    end wait for it to go on"""
    optimistic: bool
    """Adam extrapolates from the last step, w - 2 rate d_t + rate d_(t-1), which damps circles around the equilibrium
    (Daskalakis et al., ICLR 2018)"""
    update: Literal["alternating", "simultaneous"]
    """networks learn in turn (SAGIPS paper), or both from one pass over the same synthetic events, with a quarter less
    to compute"""
    order: Literal["discriminator_first", "generator_first"]
    """which network learns first in an epoch; generator_first uses one set of events for both"""
    overlap: Literal["exact", "one_update_late"]
    """what the generator's exchange may overlap with; one_update_late (only with discriminator_first): the next
    discriminator step, which sees an older generator"""
    discriminator_steps: int
    """updates of the discriminator for each of the generator, each from events of its own (SAGIPS paper: 1)"""
    generator: GeneratorOptimizer
    """updates of the generator (authors' tool kit: rate 1e-5)"""
    discriminator: GeneratorOptimizer
    """updates of the discriminator (authors' tool kit: rate 1e-4)"""


class Dense(TypedDict, total=False):
    library: Literal["auto", "libtorch", "libxsmm", "mkl", "plain"]
    """who multiplies matrices in the networks' fused passes; auto: the first of those here; libtorch: plain LibTorch
    layers"""
    block_rows: int
    """events whose activations are in the cache at a time; 0: as many as its size allows"""


class Toy(TypedDict, total=False):
    events: int
    """toy events made when data.file is empty"""
    weights: Literal["accepted", "kept"]
    """of a pipeline that weighs its events: accepted takes an event with a probability of its weight, as data come;
    kept takes all with their weights"""


class Objective(TypedDict, total=False):
    loss: (Literal["cross_entropy", "hinge", "least_squares", "logit", "minimax", "non_saturating", "relativistic",
        "wasserstein"])
    """the game of the two networks (SAGIPS paper's code: least_squares); which_objective.md has the formulas"""
    label_real: float
    """discriminator's label of measured events, for losses with labels"""
    label_synthetic: float
    """discriminator's label of synthetic events, for losses with labels"""
    label_generator: float
    """label the generator wants its events to get, for least_squares and cross_entropy"""
    reference_terms: Literal["none", "per_sample", "batch_mean"]
    """adds squared distances of the predicted reference numbers (norms) from the data's"""
    reference_weight: float
    """factor of the reference terms"""


class Evaluation(TypedDict, total=False):
    samples: int
    """noise vectors whose predictions are averaged"""
    events: int
    """synthetic events of each, for distances to held-out events"""
    energy_events: int
    """events on each side of the energy distance (quadratic cost)"""


class Solve(TypedDict, total=False):
    method: str
    """what looks for the parameters; see `sagips list`"""
    minutes: float
    """time limit; 0: none"""
    bootstraps: int
    """further solutions on data drawn again with replacement: errors from their spread"""
    seeds: int
    """further solutions with other seeds: what the method's own chance does"""
    test: Literal["energy", "classifier"]
    """how measured and synthetic events are told apart: by their energy distance, or by a small network, which is
    better where few of many observables differ"""
    test_events: int
    """measured and synthetic events of that test; 0: no test"""
    permutations: int
    """of the test by energy distance"""


class MomentsFeatures(TypedDict, total=False):
    degree: int
    """of the Legendre polynomials of each observable on its scale; 0: 14 for one observable, 6 for several"""
    cross_degree: int
    """total degree of products of two observables' polynomials; below 2: none"""
    learned: bool
    """beside them a small classifier for each parameter, trained on simulated events on either side of the answer: it
    learns what products of two observables do not tell"""
    grow: bool
    """raise an automatic degree by a half, and cross_degree by 2, as long as an error shrinks by more than 2 %"""


class Moments(TypedDict, total=False):
    features: MomentsFeatures
    """numbers of an event whose means are compared"""
    jacobian: Literal["differences", "automatic"]
    """derivatives on the way to the minimum: by central differences, which need no gradient of the pipeline, or by
    automatic differentiation; errors come from differences"""
    difference: float
    """first step of the differences, of a parameter's range; at the end as long as errors where a slope would be mostly
    the simulation's chance, shorter where it bends"""
    noise: Literal["sobol", "pseudo_random"]
    """random numbers of the simulation; sobol: scrambled quasi-random ones"""
    least_events: int
    """simulated at a parameter vector while few data count; raised to a power of two"""
    most_events: int
    """simulated at a parameter vector at most; raised to a power of two"""
    repetitions: int
    """simulations with other random numbers that the last step averages; their scatter enters the errors"""
    most_repetitions: int
    """of them, where their scatter is more than a quarter of the errors"""
    weighting: Literal["model", "data"]
    """whose covariance weighs the features at the end; the model's gives what maximum likelihood gives, also where the
    pipeline describes the data badly"""
    reference_error: float
    """relative error to which reference numbers are met"""
    prior_width: float
    """of the logits, while not all data count"""
    first_level: int
    """events that the data count as first"""
    start: Literal["middle", "random"]
    """first starting point: the middle of all ranges, or a random one as for later ones"""
    starts: int
    """starting points at most"""
    minima: bool
    """look over all ranges for other solutions that the data allow, from 8 to 64 points, where no start is given"""


class Fit(TypedDict, total=False):
    reference: Literal["exact", "ignore"]
    """take the data's reference numbers (norms) as exactly known, or fit events alone"""
    starts: int
    """starting points at most"""
    evaluations: int
    """evaluations of -ln L a level at most"""
    edm: float
    """estimated distance to the minimum that counts as converged [-ln L]"""


class DistanceClassifier(TypedDict, total=False):
    width: int
    """neurons of each hidden layer"""
    layers: int
    """hidden layers; 0: logistic regression"""
    steps: int
    """training steps, each on all events"""
    learning_rate: float
    """first step size of AdamW; falls along a cosine"""
    weight_decay: float
    """of AdamW, against learning events by heart"""


class Distance(TypedDict, total=False):
    kind: Literal["classifier", "energy", "likelihood", "mmd", "sliced_wasserstein"]
    """how synthetic events are compared with measured ones; likelihood: exact, where the density is known"""
    events: int
    """synthetic events of a parameter vector"""
    measured_events: int
    """measured events compared with at most, drawn once; 0: all; likelihood takes all"""
    reference_weight: float
    """factor of the squared relative deviations of reference numbers (norms)"""
    bandwidths: float | Sequence[float]
    """mmd: widths of its Gaussian kernels, times the measured events' median distance"""
    projections: int
    """sliced_wasserstein: random directions; one observable: 1"""
    power: float
    """sliced_wasserstein: p of W_p^p"""
    classifier: DistanceClassifier
    """classifier: the network trained at each parameter vector"""


class Direct(TypedDict, total=False):
    starts: int
    """starting points that walk side by side"""
    steps: int
    """of Adam"""
    learning_rate: float
    """first step size of Adam, falls along a cosine [logit]"""


class Search(TypedDict, total=False):
    evaluations: int
    """parameter vectors to score"""
    batch: int
    """parameter vectors scored at a time, at most"""


class PolicyGradient(TypedDict, total=False):
    batch: int
    """proposals of an update; 0: 4 + 3 ln n for n parameters"""
    deviation: float
    """first standard deviation of the policy [logit]"""
    learning_rate: float
    """of the policy's width and shape; 0: (9 + 3 ln n) / (5 n sqrt n)"""
    width_penalty: float
    """pull towards a narrower policy (AVO's entropy term)"""
    shaping: Literal["ranks", "standardised"]
    """what proposals are worth: by rank, or by score less the batch's mean"""


class Parameters(TypedDict, total=False):
    low: float | None
    """lower end of the range of NAME"""
    high: float | None
    """upper end of the range of NAME"""
    truth: float | None
    """true value of NAME, when known"""
    toy: float | None
    """value of NAME that toy data are made with"""
    fixed: float | None
    """hold NAME at this value; null: free"""
    periodic: bool
    """both ends of the range are the same point, as of a phase"""
    unit: str
    """for tables and figures"""
    help: str
    """what it is, in a few words"""


class PipelineDetector(TypedDict, total=False):
    enabled: bool
    """whether events pass through the detector"""
    smearing: float | Sequence[float]
    """relative resolution of each observable"""
    mixing: float
    """constant share of every other observable"""
    random_mixing: float
    """size of the random share of every other observable"""
    mixing_low: float
    """lower end of the random share"""
    mixing_high: float
    """upper end of the random share"""


class PipelineEventFilter(TypedDict, total=False):
    enabled: bool
    """whether events pass through the filter"""
    low: float | Sequence[float]
    """lower edge of the box, one an observable"""
    high: float | Sequence[float]
    """upper edge of the box, one an observable"""
    steepness: float
    """k of the soft edge, per unit of the observable"""
    shift: float
    """least weight of an event in the soft form"""
    training: Literal["soft", "resample"]
    """training form: smooth weights, or a hard cut and drawing again"""


class Pipeline(TypedDict, total=False):
    script: str | os.PathLike[str]
    """TorchScript module, a .pt file"""
    plugin: str | os.PathLike[str]
    """shared library"""
    stage: str
    """name of one of its stages"""
    python: str
    """function of a module, 'MODULE:FUNCTION', or a .pickle file that keeps one"""
    interpreter: str
    """program whose processes call it, where it has processes of its own"""
    processes: int
    """processes that call it at a time; 0: this one, where it is Python"""
    timeout_s: float
    """longest time for one answer [s]"""
    noise_dimensions: int
    """uniform random numbers an event that it gets as noise.npy"""
    seeds: bool
    """it gets a seed a sample as seeds.npy, for random numbers of its own"""
    gradient: bool
    """it answers `gradient` with a product with its Jacobian"""
    on_error: Literal["stop", "skip"]
    """of events with NaN or infinity: stop, or go on without them and count them"""
    most_skipped: float
    """share of events that may be skipped"""
    nan_is_lost: bool
    """events with NaN or infinity are those that the detector loses"""
    log: str | os.PathLike[str]
    """file that its standard error is added to; empty: only error messages"""
    folder: str | os.PathLike[str]
    """where the command starts; else in the folder of its YAML"""
    process: str
    """command of the simulator, for /bin/sh"""
    detector: PipelineDetector
    """smears and mixes the observables"""
    event_filter: PipelineEventFilter
    """keeps events inside a box"""


class ChannelsData(TypedDict, total=False):
    file: str | os.PathLike[str]
    """measured events: .npy, .csv, .hdf5 or .h5; '' makes toy data"""
    hdf5_dataset: str
    """data set, or group of the columns, inside an HDF5 file"""
    columns: str | float | Sequence[str | float]
    """observables: names in .csv and in a group of HDF5 data sets, else numbers from 0; [] takes the workload's own"""
    cuts: str | float | Sequence[str | float]
    """conditions that every kept event fulfils, such as '70 < M < 110'"""
    weight_column: str
    """column of event weights; '' for none"""
    reference: Mapping[str, float]
    """named numbers that the objective compares with, e.g. norm_1"""
    maximum_events: int
    """only the first ones that pass the cuts; 0: all"""


class Channels(TypedDict, total=False):
    parameters: str | float | Sequence[str | float]
    """those that its pipeline gets, in this order; []: all, as they are listed above"""
    observables: str | float | Sequence[str | float]
    """names of an event's numbers, in the order of the pipeline's output; 't [us]' has a unit"""
    pipeline: Sequence[Pipeline]
    """stages, one after the other, each a group with one of the keys script, plugin, python, process, detector,
    event_filter"""
    enabled: bool
    """whether this channel is looked at"""
    weight: float
    """factor of its part of the generator's loss"""
    toy_events: int
    """toy events when its file is empty; 0: toy.events"""
    data: ChannelsData
    """its events"""


class PlaneX(TypedDict, total=False):
    low: float
    """first point of the table"""
    high: float
    """last point of the table"""
    points: int
    """points of the table"""
    spacing: Literal["linear", "quadratic", "logarithmic"]
    """equal steps, steps that grow from the low end, or equal ratios"""


class Plane(TypedDict, total=False):
    x: PlaneX
    """points of Bjorken's x"""
    Q2: PlaneX
    """points of Q2 [GeV^2]"""
    y: PlaneX
    """points of the second observable"""


class Sampler(TypedDict, total=False):
    low: float
    """first point of the table"""
    high: float
    """upper end of the table"""
    points: int
    """points of the table"""
    rule: Literal["left", "trapezoid"]
    """mass of a cell from the density at its left end (authors' recipe) or both ends"""
    coverage: float
    """uniform numbers are multiplied by this"""
    kind: Literal["rosenblatt", "loits"]
    """marginal and conditional inverse CDF with the whole gradient, or the authors' local one, whose gradient is biased
    (then take few points on each axis of the plane)"""
    counts: Literal["multinomial", "truncated"]
    """loits: how many events a cell gets, drawn or rounded down"""


class Window(TypedDict, total=False):
    low: float
    """first point of the table"""
    high: float
    """upper end of the table"""
    points: int
    """points of the table"""
    rule: Literal["left", "trapezoid"]
    """mass of a cell from the density at its left end (authors' recipe) or both ends"""


class Strain(TypedDict, total=False):
    low: float
    """from this"""
    high: float
    """to this: where the curve ends, or the material fails"""


class Settings(TypedDict, total=False):
    """Keywords of the functions, to be kept by a name: `usual: sagips.Settings = {...}`."""
    workload: str
    """what is to be solved; see `sagips list`"""
    plugin: str | os.PathLike[str]
    """shared library with networks (layer `module`) and losses of yours; stages of one are named in the pipeline"""
    device: str
    """where tensors live: cpu; cuda, of several GPUs each process of a machine takes the next; cuda:NUMBER; a part of a
    GPU by its name, MIG-...; auto: a GPU where there is one"""
    precision: Literal["float32", "tf32", "bfloat16"]
    """factors of products on a GPU: float32, tf32 (10 bits in place of 23) or bfloat16 (7 bits in SAGIPS' own passes of
    dense layers with leaky ReLUs, tf32 elsewhere)"""
    threads: int
    """threads that may share a step, at most: those take part that pay, found by trial; 0: OMP_NUM_THREADS, else the
    cores the process may use, divided among the ranks that share them"""
    run: Run
    """the run folder"""
    figures: Figures
    """pictures for a screen or a paper; run.figures=false draws none"""
    generator: Generator | Callable[..., Any] | Sequence[Layer | Callable[..., Any]]
    """the network that makes examples"""
    discriminator: Discriminator | Callable[..., Any] | Sequence[Layer | Callable[..., Any]]
    """the network that judges them"""
    measures: Mapping[str, Measures]
    """functions of an example that the workload has, by their names: the generator makes their losses small, too"""
    batch: int | Batch
    """rows of a rank in a step, and examples made for their conditions"""
    shuffle_rows: int
    """rows in one random order; of more rows, chunks of neighbours are drawn that make as many"""
    generator_updates: int
    """updates of the generator behind the discriminator's two, each with noise of its own"""
    label_flips: float
    """share of the examples that the discriminator is told wrongly to be real or made"""
    collapse: float
    """the run ends where made examples are this much more alike than real ones (spread over a batch, as a share), or as
    much less, in ten steps in a row; 0: never"""
    exchange: str
    """how ranks exchange gradients; see `sagips list`"""
    exchanges: Exchanges
    """settings of the exchanges"""
    ranks: Ranks
    """training over several ranks (mpirun, srun)"""
    train: Train
    """the training loop"""
    early_stop: EarlyStop
    """when a run stops by itself: by a metric of its evaluations"""
    compare: Compare
    """which methods `sagips compare` lets run"""
    ensemble: Ensemble
    """how `sagips ensemble` trains many networks"""
    tune: Tune
    """what `sagips tune` searches, and how"""
    convergence: Convergence
    """which trainings `sagips convergence` compares"""
    scaling: Scaling
    """what `sagips scaling` measures"""
    closure: Closure
    """what `sagips closure` repeats"""
    simulate: Simulate
    """what `sagips simulate` lets run on a simulated cluster"""
    network: Network | Callable[..., Any] | Sequence[Layer | Callable[..., Any]]
    """what learns"""
    networks: Mapping[str, Networks] | Mapping[str, Callable[..., Any]]
    """several, by names of yours, in place of `network`: each takes what the one before it gives"""
    start_from: str | os.PathLike[str]
    """weights to begin with: those of a run folder (its best ones) or of a .safetensors file; empty: drawn by
    run.seed"""
    loss: str | Callable[..., Any]
    """what is made small: cross_entropy, binary_cross_entropy, mean_square, mean_absolute, mean_absolute_percentage,
    smooth_l1, poisson, kullback_leibler, or a function in Python, MODULE:FUNCTION"""
    label_smoothing: float
    """cross_entropy: share of a label that is spread evenly over all classes"""
    class_weights: str | float | Sequence[str | float]
    """cross_entropy: how much a row of each class counts, [1, 9.5, ...], or balanced: all classes alike (divided by
    their mean over the rows to learn from; metrics but the loss go without); empty: all rows alike"""
    metrics: str | float | Sequence[str | float] | Callable[..., Any] | Sequence[str | Callable[..., Any]]
    """functions in Python, MODULE:FUNCTION, of predictions, targets and, if they like, weights: each a number of every
    evaluation"""
    heads: Mapping[str, Heads]
    """several outputs with losses of their own, in place of `loss`, by names of yours: their weighted sum is made
    small"""
    top_k: int
    """classes among which the right one counts for top_K_accuracy"""
    augment: Augment
    """changes of the rows to learn from, drawn anew for each row in each epoch"""
    optimizer: Optimizer
    """updates of the network"""
    shared: Literal["weights_only", "all", "none"]
    """what ranks exchange of the network"""
    dense: Dense
    """who evaluates networks of dense layers alone on a CPU"""
    toy: Toy
    """made-up data for closure tests"""
    objective: Objective
    """how synthetic events are scored"""
    evaluation: Evaluation
    """how a generator is looked at"""
    solve: Solve
    """how `sagips solve` looks for parameters"""
    moments: Moments
    """weighted moment matching (solve.method=moments)"""
    fit: Fit
    """maximum-likelihood fit"""
    distance: Distance
    """between events: what direct and the searches minimise"""
    direct: Direct
    """gradient descent on that distance (solve.method=direct)"""
    search: Search
    """searches that need no gradient"""
    bayesian: TuneBayesian
    """Bayesian optimisation with a Gaussian process"""
    evolution: TuneEvolution
    """evolutionary search by pagmo"""
    policy_gradient: PolicyGradient
    """reinforcement learning of a normal policy"""
    parameters: Mapping[str, Parameters]
    """what is to be found, by name"""
    pipeline: Sequence[Pipeline]
    """stages, one after the other, each a group with one of the keys script, plugin, python, process, detector,
    event_filter"""
    channels: Mapping[str, Channels]
    """several data sets by name, each with a pipeline; in place of `pipeline`"""
    plane: Plane
    """table of the density"""
    energy: float
    """of the collision in its centre of mass [GeV]"""
    examples: str
    """a learning workload: inputs like its own are made, for its targets as conditions"""
    sampler: Sampler
    """inverse-CDF sampler (authors' tool kit)"""
    detector: PipelineDetector
    """smears and mixes the observables; off in the paper's runs"""
    filter: PipelineEventFilter
    """keeps events inside a box; off in the paper's runs"""
    window: Window
    """mass window [GeV] in which events are kept and densities normalised"""
    law: Literal["hollomon", "root"]
    """stress = strength strain^exponent, or strength strain^(1 / exponent)"""
    strain: Strain
    """the strains that are compared, evenly spread"""
    noise: float
    """standard deviation of a stress [MPa]"""


class SettingsWithData(Settings, total=False):
    data: Data
    """rows of examples (inputs) and conditions (targets)"""
