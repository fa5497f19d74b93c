/**
 * Returns the URL of another database on the same server with the same login. Works on text,
 * because `URL` cannot parse socket URLs, which have no host.
 */
export function databaseAt(url: string, name: string): string {
  const parts = /^(postgres(?:ql)?:\/\/[^/?]*)(?:\/[^?]*)?(\?.*)?$/.exec(url);
  if (parts === null) throw new Error("not a PostgreSQL URL");
  return `${parts[1]}/${name}${parts[2] ?? ""}`;
}
