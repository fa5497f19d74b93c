/**
 * Returns the text as one argument of a POSIX shell. Inside single quotes, only a single quote must
 * be escaped.
 */
export function shellArgument(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
