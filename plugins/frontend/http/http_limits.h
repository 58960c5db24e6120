// Every limit of the front end that is no parameter, in one place.
// Thread rule: constants. Flow: used by the server and the routes; docs/limits.md lists them.
#pragma once
#include <chrono>
#include <cstddef>

namespace mortise::http {

constexpr size_t kHeaderBytesMax = 16 * 1024;           // of a request; more is answered 431
constexpr size_t kPipelinedBytesMax = 64 * 1024;        // read ahead while a request is answered
constexpr size_t kUnsentBytesMax = 4 * 1024 * 1024;     // of a stream that its client does not read
constexpr std::chrono::seconds kBodyTimeout{30};        // from a request's header to its last byte
constexpr std::chrono::seconds kLingerTimeout{2};       // for what a refused client still sends
constexpr std::chrono::milliseconds kAcceptPause{100};  // before accepting again after a failure
constexpr int kRetryAfterSeconds = 1;                   // told to a client that met a full queue
constexpr int kBacklog = 512;                           // connections that the kernel keeps waiting

}  // namespace mortise::http
