/** How a process of ours ends when it cannot start, by the numbers of sysexits.h. */
export const exitCodes = {
  /** EX_TEMPFAIL: the database cannot be reached; it may be started later. */
  databaseUnreachable: 75,
  /** EX_CONFIG: a setting must be changed first; starting again does not help. */
  refusedConfiguration: 78,
} as const;
