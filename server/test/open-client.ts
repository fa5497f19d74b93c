import { Client } from "pg";

/** A connection of a test's own, past the pools. The caller ends it. */
export async function openClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
