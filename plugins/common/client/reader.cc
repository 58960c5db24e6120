// Opening a reader.
// Thread rule: see reader.h. Flow: see reader.h.
#include "client/reader.h"

namespace mortise::client {

Result<std::unique_ptr<Reader>> Reader::open(const mortise_text* service, std::string_view request,
                                             Sink sink) {
  void* reader = nullptr;
  mortise_error error = c_error();
  const mortise_status status = service->reader_new(service->ctx, str(request), &reader, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  return std::unique_ptr<Reader>(new Reader(service, reader, std::move(sink)));
}

}  // namespace mortise::client
