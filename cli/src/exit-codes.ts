/**
 * Exit codes of `beckon`. Where sysexits.h has a code for the cause, it is used. `beckon start` has
 * the exit codes of the server, which are the same for the same causes.
 */
export const exitCodes = {
  /** The command succeeded. A run for which it waited succeeded too. */
  done: 0,
  /**
   * Beckon rejected the call, the run failed or was cancelled, `doctor` found a problem, or a
   * backup or restore was not possible.
   */
  failed: 1,
  /** EX_USAGE: an argument, an option or an input file is wrong. */
  usage: 64,
  /**
   * EX_TEMPFAIL: no response, overload or timeout. A later attempt can succeed. It is not known
   * that a run was started.
   */
  temporary: 75,
  /** EX_NOPERM: the key or the trigger is not valid, or the key lacks a scope. */
  denied: 77,
  /**
   * EX_CONFIG: a setting is wrong or missing, for example the key, or Beckon's address redirects or
   * has a certificate that is not trusted.
   */
  invalidConfiguration: 78,
  /**
   * The command no longer waits for a run that it started; the run continues. sysexits.h has no
   * such code; `timeout` of GNU coreutils exits with this one.
   */
  continues: 124,
  /** 128 + SIGINT: Ctrl-C, SIGTERM or SIGHUP ended the command. A run that it started continues. */
  interrupted: 130,
} as const;

/** What each exit code means, for `--help`. */
export const exitCodeHelp = `

Exit codes:
  0    done; for a run: it succeeded
  1    Beckon rejected the call, the run failed, or doctor found a problem,
       or the backup or restore failed
  64   an argument, an option or an input file is wrong
  75   no response, overload or timeout; a later attempt can succeed. Repeat
       invoke and fire with --idempotency-key: without it, a repetition can
       start a second run
  77   the key or the trigger is not valid, or the key lacks a scope
  78   a setting is wrong or missing, for example the key, or Beckon's address
       redirects or has a certificate that is not trusted
  124  the command no longer waits; the run that it started continues, and a
       repetition without its --idempotency-key starts a second run
  130  Ctrl-C ended the command; a run that it started continues, and an
       interrupted backup or restore changed nothing`;
