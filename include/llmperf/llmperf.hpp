// SPDX-License-Identifier: Apache-2.0
/** The C API for C++11: regions that close at the end of a scope, also if an exception leaves it,
 * and a session that stops at the end of its scope.
 *
 * Everything is inline and calls the functions of llmperf.h, so no C++ crosses the binary
 * interface. Scope objects can be neither copied nor moved, because each thread has its own stack
 * of regions: destroy them on the thread that created them, in reverse order, and keep none open
 * across a co_await. Scope objects of regions never throw. */
#ifndef LLMPERF_LLMPERF_HPP
#define LLMPERF_LLMPERF_HPP

#include <stdexcept>
#include <string>

#include "llmperf/llmperf.h"

namespace llmperf
{

/** Exception for a failed call: what() is llmperf_last_error(), status() the LLMPERF_E… code. */
class error : public std::runtime_error
{
  public:
    explicit error(int status) : std::runtime_error(llmperf_last_error()), status_(status)
    {
    }
    int status() const noexcept
    {
        return status_;
    }

  private:
    int status_;
};

/** Throw an error if a call of the C API failed. */
inline void check(int status)
{
    if (status < 0)
        throw error(status);
}

/** Base of the scope objects: not copyable. */
class scope
{
  public:
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

  protected:
    scope() noexcept = default;
    ~scope() = default;
};

/** A region that is open until the end of the scope. */
class region : scope
{
  public:
    explicit region(const char *label) noexcept
    {
        llmperf_region_begin(label);
    }
    explicit region(const llmperf_region_attr &attr) noexcept
    {
        llmperf_region_begin_attr(&attr);
    }
    ~region()
    {
        llmperf_region_end();
    }
};

/** `LLM@prefill` until the end of the scope. tokens: prompt tokens computed; 0: not given. */
class prefill : scope
{
  public:
    explicit prefill(uint64_t tokens = 0) noexcept
    {
        llmperf_prefill_begin(tokens);
    }
    ~prefill()
    {
        llmperf_prefill_end();
    }
};

/** `LLM@decode_all`, the decode loop, until the end of the scope; add() the tokens it generates. */
class decode_all : scope
{
  public:
    decode_all() noexcept
    {
        llmperf_decode_all_begin();
    }
    ~decode_all()
    {
        llmperf_decode_all_end(tokens_);
    }
    void add(uint64_t tokens) noexcept
    {
        tokens_ += tokens;
    }

  private:
    uint64_t tokens_ = 0;
};

/** `LLM@decode_step` until the end of the scope. sequences: sequences in the batch; context: KV
 * cache length, new tokens included, summed over the sequences; 0: not given. */
class decode_step : scope
{
  public:
    explicit decode_step(uint64_t sequences = 0, uint64_t context = 0) noexcept
    {
        llmperf_decode_step_begin(sequences, context);
    }
    ~decode_step()
    {
        llmperf_decode_step_end();
    }
};

/** A session; the destructor stops it if stop() was not called. */
class session : scope
{
  public:
    /** @throw error */
    explicit session(const llmperf_session_options &options)
    {
        check(llmperf_session_start(&options, &session_));
    }
    /** Stops the session if it is running. Failures are ignored; call stop() to see them. */
    ~session()
    {
        llmperf_session_free(session_);
    }

    /** Stop and write the reports. @throw error */
    void stop()
    {
        check(llmperf_session_stop(session_, nullptr));
    }

    /** The totals so far as a document, LLMPERF_DOCUMENT_…; LLMPERF_DOCUMENT_PROMETHEUS serves a
     * metrics endpoint. @throw error */
    std::string document(uint32_t document) const
    {
        struct parts {
            llmperf_profile *profile = nullptr;
            char *text = nullptr;
            ~parts()
            {
                llmperf_text_free(text);
                llmperf_profile_free(profile);
            }
        } parts;

        check(llmperf_session_snapshot(session_, &parts.profile));
        check(llmperf_document_text(parts.profile, document, &parts.text));
        return parts.text;
    }

    /** Folder of the run; "": nothing is written. */
    std::string run_dir() const
    {
        const char *folder = llmperf_session_run_dir(session_);

        return folder ? folder : "";
    }

    /** The session for calls of the C API; it still belongs to this object. */
    llmperf_session *get() const noexcept
    {
        return session_;
    }

  private:
    llmperf_session *session_ = nullptr;
};

} // namespace llmperf

#endif
