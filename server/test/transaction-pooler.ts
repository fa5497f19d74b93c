import { type AddressInfo, createServer, type Socket } from "node:net";
import { Client } from "pg";

/**
 * A minimal connection pooler in transaction mode: assigns a server connection to a client for one
 * transaction at a time.
 */
export interface TransactionPooler {
  readonly url: string;
  close(): Promise<void>;
}

/** A server connection, and the client that it is assigned to. */
interface ServerConnection {
  readonly socket: Socket;
  to: Socket | undefined;
}

const sslRequest = 80_877_103;
/** What each client gets first: AuthenticationOk, and ReadyForQuery outside a transaction. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** Starts a pooler in front of the database at `url`, with `size` server connections. */
export async function startTransactionPooler(
  url: string,
  { size }: { size: number },
): Promise<TransactionPooler> {
  const logins = Array.from({ length: size }, () => new Client({ connectionString: url }));
  await Promise.all(logins.map((login) => login.connect()));
  const clients = new Set<Socket>();
  /**
   * Messages that wait for a server connection. A unit contains the messages that a client sent up
   * to and including a Query or Sync.
   */
  const waiting: { client: Socket; unit: Buffer }[] = [];
  const lent = logins.map((login): ServerConnection => {
    // `pg` has logged in. From here on, this file itself reads and writes the protocol messages.
    const { stream } = (login as unknown as { connection: { stream: Socket } }).connection;
    return { socket: stream.removeAllListeners("data"), to: undefined };
  });

  function serve(): void {
    for (let index = 0; index < waiting.length; index++) {
      const { client, unit } = waiting[index] as (typeof waiting)[number];
      const server =
        lent.find(({ to }) => to === client) ?? lent.find(({ to }) => to === undefined);
      if (server === undefined) continue;
      waiting.splice(index--, 1);
      server.to = client;
      server.socket.write(unit);
    }
  }

  for (const server of lent) {
    splitMessages(server.socket, (type, message) => {
      server.to?.write(message);
      if (type !== "Z" || message[5] !== 0x49) return;
      server.to = undefined;
      serve();
    });
  }

  const listener = createServer((client) => {
    clients.add(client);
    client.on("error", () => {}).on("close", () => clients.delete(client));
    let unit: Buffer[] = [];
    client.once("data", function greet(first: Buffer) {
      if (first.readInt32BE(4) === sslRequest) {
        client.write("N");
        client.once("data", greet);
        return;
      }
      splitMessages(client, (type, message) => {
        if (type === "X") return void client.end();
        unit.push(message);
        if (type !== "Q" && type !== "S") return;
        waiting.push({ client, unit: Buffer.concat(unit) });
        unit = [];
        serve();
      });
      client.write(welcome);
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));

  return {
    url: `postgresql://anybody@127.0.0.1:${(listener.address() as AddressInfo).port}/pooled`,
    close: async () => {
      for (const client of clients) client.destroy();
      await new Promise((resolve) => listener.close(resolve));
      for (const login of logins) login.on("error", () => {});
      await Promise.all(
        lent.map(({ socket }) => {
          const closed = new Promise((resolve) => socket.once("close", resolve));
          socket.end(Buffer.from([0x58, 0, 0, 0, 4]));
          return closed;
        }),
      );
    },
  };
}

/** Calls `take` with each protocol message: type byte and complete message. */
function splitMessages(socket: Socket, take: (type: string, message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      take(String.fromCharCode(message[0] ?? 0), message);
    }
  });
}
