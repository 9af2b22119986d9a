#pragma once
#include <gtest/gtest.h>

#include <string>

namespace sagips::testing {

/// The message of the exception that `action` throws; a test failure when it throws none of that
/// type. Every message is one line, so that is checked here once for all.
template <class Exception, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Exception& failure) {
    std::string message = failure.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace sagips::testing
