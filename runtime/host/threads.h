// Starting a thread the host's way: named, and deaf to signals, which the main thread alone handles.
// Thread rule: any thread. Flow: used by the pool and for front ends' threads.
#pragma once
#include <pthread.h>
#include <signal.h>

#include <string>
#include <thread>
#include <utility>

namespace mortise {

/// Throws std::system_error where the system has no thread left. Signals that a fault raises stay unblocked,
/// so that a crash is reported where it happens. Linux cuts names to 15 bytes.
template <class Body>
std::thread start_thread(const std::string& name, Body&& body) {
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct Restore {
    sigset_t* mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, mask, nullptr); }
  } restore{&before};
  std::thread thread(std::forward<Body>(body));
  pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
  return thread;
}

}  // namespace mortise
