/** The same server and login, another database. Works on text: a socket's URL has no host that `URL` could read. */
export function databaseAt(url: string, name: string): string {
  const parts = /^(postgres(?:ql)?:\/\/[^/?]*)(?:\/[^?]*)?(\?.*)?$/.exec(url);
  if (parts === null) throw new Error("not a PostgreSQL URL");
  return `${parts[1]}/${name}${parts[2] ?? ""}`;
}
