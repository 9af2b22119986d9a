#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sagips::core {

/// Whether a line written there can be redrawn in place: a terminal that is not TERM=dumb, and none behind
/// which a launcher writes into a file.
bool can_redraw(int descriptor);

/// Columns and rows of a terminal; where it does not say them, those of COLUMNS or 80 x 24.
struct TerminalSize {
  std::size_t columns = 80, rows = 24;
};
TerminalSize terminal_size(int descriptor);

/// What a user should know. The code, words joined by hyphens, is for scripts and stays as it is.
struct Warning {
  std::string code, text;
  bool operator==(const Warning&) const = default;
};

/// Lines with time and level, to the terminal and, once a run folder exists, to its log file.
/// Passed along, never global. Threads may share one.
class Log {
 public:
  struct Config {
    bool terminal = true;  ///< print to standard error
    bool colour = false;   ///< colour the level on the terminal
    bool quiet = false;    ///< the terminal shows warnings and errors only
  };
  Log();  ///< terminal only, no colour
  explicit Log(Config config);
  ~Log();
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;

  /// Warnings that were said before stand there, too. throws: StorageError
  void add_file(const std::string& path);
  void info(const std::string& line);
  void warning(const std::string& code, const std::string& line);
  std::vector<Warning> warnings() const;  ///< all that were said so far, each once
  void error(const std::string& line);
  /// Silences the terminal (a live display owns it); files go on. Returns what was set before.
  bool set_terminal(bool on);
  bool is_quiet() const;
  /// What stands on the terminal below the lines: it is erased before one comes, and drawn again after it.
  /// Both are called on the thread that has the line. Empty functions: nothing stands there.
  void set_below(std::function<void()> erase, std::function<void()> draw);
  void flush();

 private:
  struct Sinks;
  void write(int level, const std::string& line);

  std::unique_ptr<Sinks> sinks_;
};

}  // namespace sagips::core
