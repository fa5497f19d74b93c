/** Returns whether the error says that the disk is full, or the quota of the user. */
export function isDiskFull(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT";
}
