import { Client } from "pg";

/** Opens a connection outside the pools. The caller ends it. */
export async function openClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
