#include "sagips/cli/command_options.hpp"

namespace sagips::cli {

std::vector<CommandOption> closure_options() {
  return {{"experiments", "N", "toy data sets, each solved anew; 100 without"},
          {"method", "NAME", "a solver, or gan; moments without"},
          {"members", "M", "with gan: networks of each experiment"},
          {"override", "", "go on with run.name=NAME although keys of `closure` have changed"},
          {"fresh", "", "begin anew instead of going on with unfinished experiments"},
          quiet_option,
          json_option,
          {"worker", "", "", false, true}};
}

std::vector<CommandOption> ensemble_options() {
  return {{"members", "N", "trainings of each variant; 20 without"},
          {"vary", "WHAT",
           "seeds (the data unchanged), bootstrap (data drawn again), or both; folds (each network "
           "keeps another part of the rows aside, as many as members)"},
          {"ranks", "K", "ranks of each member"},
          {"grid", "KEY=VALUE,VALUE", "a variant for each value; several grids: all combinations",
           true},
          {"override", "", "go on with run.name=NAME although keys of `ensemble` have changed"},
          {"fresh", "", "begin anew instead of going on with an unfinished ensemble"},
          quiet_option,
          json_option};
}

std::vector<CommandOption> convergence_options() {
  return {{"exchanges", "NAME,NAME", "what to compare; all_reduce is the synchronous baseline"},
          {"ranks", "K", "ranks of each member; 4 without"},
          {"members", "N", "trainings of each variant; 5 without"},
          {"outer-periods", "H,H", "also compare these outer periods of the grouped exchanges"},
          {"over-ranks", "K,K", "also compare these numbers of ranks"},
          {"batch", "HOW", "of --over-ranks: each rank a whole one, divided among them, or both"},
          {"fresh", "", "begin anew instead of going on with an unfinished comparison"},
          {"override", "", "go on with run.name=NAME although keys of `convergence` have changed"}};
}

std::vector<CommandOption> scaling_options() {
  return {
      {"ranks", "K,K", "numbers of ranks, 1 among them; 1,2,4 without"},
      {"exchanges", "NAME,NAME", "exchanges to compare; the config's without"},
      {"mode", "HOW", "each rank keeps its batch (weak), the batch is divided (strong), or both"},
      {"launcher", "WORDS", "a placement to compare: \"mpirun -n {ranks} --map-by socket\"", true},
      {"batches", "B,B", "also these batches, on one rank"},
      {"rates", "RULE,RULE",
       "of their learning rates: none, linear, square_root, warm_up; none without"},
      {"repeats", "N", "trainings of each; 3 without"},
      {"target", "VALUE", "of scaling.metric: when is it reached?"},
      {"simulate", "K,K", "further ranks, simulated on simulate.platform"},
      {"with", "FOLDER", "another study of this kind to show beside", true},
      {"jobs", "SYSTEM", "write job arrays for slurm; the same command gathers the results"},
      {"fresh", "", "begin anew instead of going on with an unfinished study"},
      {"override", "", "go on with run.name=NAME although keys of `scaling` have changed"}};
}

std::vector<CommandOption> simulate_options() {
  return {{"ranks", "K,K",
           "numbers of ranks; 4,8,20,40,100,200,400 without, 64,400 with --convergence"},
          {"platform", "NAME|FILE", "polaris, fat_tree, ethernet, one_node, or a file of your own"},
          {"exchanges", "NAME,NAME",
           "what to simulate; without: all that can run there. With --convergence the first is "
           "what others are compared with; without: rabenseifner and eight that wait less"},
          {"convergence", "", "train on simulated ranks and compare residuals in simulated time"},
          {"fresh", "", "begin anew instead of going on with unfinished simulations"},
          {"override", "", "go on with an unfinished run.name=NAME with other ranks or exchanges"}};
}

std::vector<CommandOption> tune_options() {
  return {{"trials", "N", "trainings; 50 without"},
          {"minutes", "M", "no trial begins later"},
          {"target", "VALUE", "a trial that is as good as this ends the study"},
          {"block-ranks", "K", "ranks of a trial: under MPI the job's ranks work in blocks of K"},
          {"worker", "", "work for the study whose folder is named, which others may do, too"},
          {"export-optuna", "FILE",
           "only write the trials of the study whose folder is named for Optuna"},
          {"override", "", "go on with run.name=NAME although keys of `tune` have changed"},
          {"fresh", "", "begin anew instead of going on with an unfinished search"},
          quiet_option,
          {"trial", "N", "", false, true},
          {"attempt", "N", "", false, true}};
}

}  // namespace sagips::cli
