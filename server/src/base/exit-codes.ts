/** Exit codes of a process that cannot start, from sysexits.h. */
export const exitCodes = {
  /** EX_TEMPFAIL: the database cannot be reached. A later start can succeed. */
  databaseUnreachable: 75,
  /** EX_CONFIG: a setting must be changed first. Restarting does not help. */
  invalidConfiguration: 78,
} as const;
