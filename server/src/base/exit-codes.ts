/**
 * Exit codes of `script/server` and `beckon start`, and of their server processes, from sysexits.h.
 * `docs/settings.md` lists them.
 */
export const exitCodes = {
  /** EX_USAGE: an unknown argument. */
  usage: 64,
  /** EX_UNAVAILABLE: an address to listen on is not available. A later start can succeed. */
  addressUnavailable: 69,
  /** EX_TEMPFAIL: the database cannot be reached. A later start can succeed. */
  databaseUnreachable: 75,
  /** EX_NOPERM: PostgreSQL rejects the connection until a role, right or setting is changed. */
  databaseRejected: 77,
  /** EX_CONFIG: a setting must be changed first. Restarting does not help. */
  invalidConfiguration: 78,
} as const;

/** What each exit code of `script/server` and `beckon start` means, for the documentation. */
export const exitCodeMeanings: readonly (readonly [code: string, meaning: string])[] = [
  ["0", "It was asked to stop: SIGINT, SIGTERM, SIGHUP or SIGQUIT. Also `--help` and `--version`."],
  [String(exitCodes.usage), "An argument is unknown."],
  [
    String(exitCodes.addressUnavailable),
    "The machine does not have the address to listen on, or its name cannot be looked up now. " +
      "Start again later.",
  ],
  [
    String(exitCodes.databaseUnreachable),
    "PostgreSQL could not be reached for 5 minutes during the start. Start again later.",
  ],
  [
    String(exitCodes.databaseRejected),
    "PostgreSQL rejects the connection: user, password, database, rights or TLS. " +
      "Starting again does not help.",
  ],
  [
    String(exitCodes.invalidConfiguration),
    "A setting is wrong, PostgreSQL is too old or unsafe, or something else listens on the port. " +
      "Starting again does not help.",
  ],
  [
    "1 or another",
    "PostgreSQL inside cannot start, or no server process became ready in 3 attempts.",
  ],
];
