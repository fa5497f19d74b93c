import { createServer } from "node:net";
import { Client, escapeLiteral } from "pg";

/** For tests of a server that is somebody else's: PostgreSQL inside never listens on TCP in production. */

/** Gives both roles the password; `url` is the superuser's over the socket. */
export async function setPasswords(url: string, password: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const role of ["postgres", "beckon"])
      await client.query(`alter role ${role} password ${escapeLiteral(password)}`);
  } finally {
    await client.end();
  }
}

/** Another process may take it before PostgreSQL does; good enough for a test. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve, reject) => server.on("listening", resolve).on("error", reject));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return address.port;
}
