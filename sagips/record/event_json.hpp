#pragma once
#include <string>

#include "sagips/record/event.hpp"

namespace sagips::record {

/// One event as one line of JSON, without the line break: {"event": "epoch_done", "epoch": 1, ...}.
/// NaN and infinity become null; what is not known is left out.
std::string event_to_json(const Event& event);

/// The inverse; null reads as NaN.
/// throws: std::exception with a message for people when the line is no event
Event event_from_json(const std::string& line);

}  // namespace sagips::record
