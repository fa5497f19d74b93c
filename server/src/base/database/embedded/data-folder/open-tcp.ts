import { createServer } from "node:net";
import { Client, escapeLiteral } from "pg";

/**
 * This file is for tests, which connect to the embedded PostgreSQL over TCP as to an external
 * server. In production the embedded PostgreSQL does not listen on TCP.
 */

/**
 * Sets the password of the superuser and of the role `beckon`. `url` connects as the superuser over
 * the socket.
 */
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

/**
 * Returns a free TCP port. Another process can take it before PostgreSQL does, which is acceptable
 * in tests.
 */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve, reject) => server.on("listening", resolve).on("error", reject));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string")
    throw new Error("the server has no TCP port");
  return address.port;
}
