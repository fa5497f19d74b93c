import { Client } from "pg";

/** Opens a connection that belongs to no connection pool. The caller must end it. */
export async function openClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
