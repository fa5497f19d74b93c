/**
 * Exit codes of `beckon`, from sysexits.h as far as it has one. `beckon start` has those of the
 * server, which are the same for the same causes.
 */
export const exitCodes = {
  /** It was done; for a run: it succeeded. */
  done: 0,
  /**
   * Beckon rejected the call, the run failed or was cancelled, `doctor` found a problem, or a
   * backup or restore was not possible.
   */
  failed: 1,
  /** EX_USAGE: an argument, an option or an input file is wrong. */
  usage: 64,
  /** EX_TEMPFAIL: no response, overload, or the time was over. A later attempt can succeed. */
  temporary: 75,
  /** EX_NOPERM: the key is missing, is not valid or lacks a scope. */
  denied: 77,
  /** EX_CONFIG: a setting is wrong. */
  invalidConfiguration: 78,
  /** 128 + SIGINT: Ctrl-C ended the wait for a run, which continues. */
  interrupted: 130,
} as const;

/** What each exit code means, for `--help`. */
export const exitCodeHelp = `
Exit codes:
  0    done; for a run: it succeeded
  1    Beckon rejected the call, the run failed, or doctor found a problem,
       or the backup or restore failed
  64   an argument, an option or an input file is wrong
  75   no response, overload or timeout; a later attempt can succeed
  77   the key is missing, is not valid or lacks a scope
  78   a setting is wrong
  130  Ctrl-C ended the wait; the run continues`;
