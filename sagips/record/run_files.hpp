#pragma once
#include <array>

namespace sagips::record {

/// A file or sub-folder of a run folder and what stands in it.
struct RunFile {
  const char* name;
  const char* content;
};

/// The names of everything that a run folder can hold, in the order of its README.txt.
/// Whoever writes one of them takes the name from here, so that the README stays right.
namespace run_files {
inline constexpr RunFile config{"config.yaml", "every setting as used, defaults included"};
inline constexpr RunFile status{"status.json",
                                "which command made this run, and whether it has finished"};
inline constexpr RunFile log{"log.txt", "what the run said, with times"};
inline constexpr RunFile metrics{
    "metrics.jsonl",
    "one JSON object a line for each epoch (beyond 2,000 not all), evaluation and warning"};
inline constexpr RunFile results{
    "results.json", "version, data, seed, end of the run and the final table, for programs"};
inline constexpr RunFile summary{"summary.csv",
                                 "the final table, for spreadsheets: one row a parameter"};
inline constexpr RunFile covariance{
    "covariance.npy",
    "covariance of the errors of the free parameters, physical units [free, free]"};
inline constexpr RunFile generator_samples{
    "generator_samples.npy",
    "the generator's proposals, physical units [noise vectors, parameters]; their spread is no "
    "error"};
inline constexpr RunFile generator{
    "generator.npy", "the trained generator's weights, one row a rank (`sagips predict` reads it)"};
inline constexpr RunFile network{"network.safetensors",
                                 "the trained network's weights by name, for `sagips predict` and "
                                 "for Python"};
inline constexpr RunFile best_network{
    "network_best.safetensors",
    "the same at the best evaluation of the metric that early_stop.metric names; what `sagips "
    "predict` reads first"};
inline constexpr RunFile best_script{"network_best.pt", "network.pt at that evaluation"};
inline constexpr RunFile script{"network.pt",
                                "a network from TorchScript as it has been trained, for "
                                "torch.jit.load; of several networks NAME.pt"};
inline constexpr RunFile ranks{"ranks", "metrics of every other rank, as rank_0001.jsonl"};
inline constexpr RunFile exchange{"exchange.csv",
                                  "what the exchange cost each rank: one row a rank"};
inline constexpr RunFile visits{"visits.csv",
                                "the best point so far over time: time [s], evaluations, score and "
                                "parameters in physical units"};
inline constexpr RunFile answers{"answers",
                                 "what slow simulators gave, for the same command to go on from"};
inline constexpr RunFile checkpoints{
    "checkpoints", "what the same command needs to go on, with checksums; the newest ones"};
inline constexpr RunFile snapshots{"snapshots",
                                   "generators and their predictions on the way, with their "
                                   "training time, as .safetensors; for residuals over time"};
inline constexpr RunFile tensorboard{"tensorboard", "event files for `tensorboard --logdir`"};
inline constexpr RunFile timeline{
    "timeline", "what each rank did when, one file a rank and start; with --timeline"};
inline constexpr RunFile trace{
    "trace.json", "all of timeline/ in one trace, for ui.perfetto.dev; with --timeline"};
inline constexpr RunFile monitor{
    "monitor.csv",
    "processors, memory, GPUs and network that each rank used: one row a rank; with --monitor"};
inline constexpr RunFile study{"study.json", "the members of a study and how far each has come"};
inline constexpr RunFile members{"members", "run folders of a study's members"};
inline constexpr RunFile trials{"trials",
                                "what a search over settings has tried: the run folder of "
                                "each trial, and in records/ who ran it and how it ended"};
inline constexpr RunFile tried{"trials.csv", "one row a trial: its settings, state and metric"};
inline constexpr RunFile importance{
    "importance.csv", "how much each setting of a search matters, with its standard error"};
inline constexpr RunFile verdicts{"verdicts.csv",
                                  "what a search has found, as the cards of its report say it"};
inline constexpr RunFile compared{"compare.csv", "what each method has found"};
inline constexpr RunFile best{"best.yaml", "the best settings, for `sagips train`"};
inline constexpr RunFile best_trial{"best.json",
                                    "the best trial, its settings and metric, for programs"};
inline constexpr RunFile ensemble{"ensemble.csv",
                                  "value, spreads and residual of each parameter, by variant"};
inline constexpr RunFile ensemble_size{"ensemble_size.csv",
                                       "residual and spread of ensembles of 1, 2, ... members"};
inline constexpr RunFile closure{"closure.csv",
                                 "pulls and coverage of each parameter, for each kind of error"};
inline constexpr RunFile truth{
    "truth.yaml",
    "closure of measured events: what toy data are made with, as the solution of the file has it"};
inline constexpr RunFile experiments{"experiments",
                                     "what each closure experiment found, one JSON object a line"};
inline constexpr RunFile convergence{
    "convergence.csv",
    "residuals over training time, by variant: of each parameter, with its spread; of simulated "
    "ranks over all parameters, with the ranks' distance from each other"};
inline constexpr RunFile scaling{
    "scaling.csv", "ranks, time, events a second and accuracy of each variant, and what it cost"};
inline constexpr RunFile simulated{
    "simulate.csv", "one row a simulation: what its epochs took, simulated, and what it sent"};
inline constexpr RunFile cost{
    "cost.csv",
    "simulated exchanges against what cost() predicts, and whether they are more than 20 % apart"};
inline constexpr RunFile straggler{"straggler.csv",
                                   "what one slow rank does to the rates of the others"};
inline constexpr RunFile jobs{"jobs", "job arrays for a batch system, with a line a training"};
inline constexpr RunFile simulations{"simulations", "job, result and output of each simulation"};
inline constexpr RunFile environment{"environment.json",
                                     "versions, host, ranks and threads, and the command line"};
inline constexpr RunFile timing{"timing.csv", "seconds that each part of the command took"};
inline constexpr RunFile figures{"figures", "pictures as SVG, PNG and PDF, their numbers as CSV"};
inline constexpr RunFile report{"report.html", "all of it on one page, for a browser"};
inline constexpr RunFile tables{"tables.txt", "the tables that a comparison printed at its end"};
inline constexpr RunFile lock{".lock", "held while the run is alive"};

inline constexpr std::array all{report,
                                config,
                                environment,
                                timing,
                                status,
                                log,
                                metrics,
                                results,
                                summary,
                                covariance,
                                generator_samples,
                                generator,
                                network,
                                best_network,
                                script,
                                best_script,
                                checkpoints,
                                snapshots,
                                tensorboard,
                                timeline,
                                trace,
                                monitor,
                                study,
                                members,
                                trials,
                                tried,
                                importance,
                                verdicts,
                                compared,
                                best,
                                best_trial,
                                ensemble,
                                ensemble_size,
                                closure,
                                experiments,
                                convergence,
                                scaling,
                                simulated,
                                cost,
                                straggler,
                                jobs,
                                simulations,
                                figures,
                                ranks,
                                exchange,
                                visits,
                                lock,
                                tables,
                                truth,
                                answers};
}  // namespace run_files

}  // namespace sagips::record
