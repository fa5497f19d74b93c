import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What happens to the bytes that come through, of all connections, until it is changed. */
export type Weather =
  | { readonly type: "fair" }
  /** Every piece arrives so many milliseconds late, in order, either way. */
  | { readonly type: "slow"; readonly ms: number }
  /** Nothing arrives any more, either way, and nobody is told; new connections are accepted and never answered. */
  | { readonly type: "blackHole" }
  /** What the client says arrives; what the server says does not. */
  | { readonly type: "mute" }
  /** New connections are closed at once; those there are stay. */
  | { readonly type: "closed" };

/** What is done to one reply of the server. */
export interface Cut {
  /** Chooses the request whose reply it is: the bytes that the client sends, as they come. */
  readonly request: (bytes: Buffer) => boolean;
  /**
   * How much of the reply is passed on before the connection is reset. `nothing`: the server has answered in full, so what it did is
   * committed, and the client hears none of it. A number: that many bytes, as soon as the server has begun to answer. `stall`: nothing too,
   * but the connection stays, and says nothing more.
   */
  readonly pass: "nothing" | "stall" | number;
}

/** A TCP proxy in front of a PostgreSQL server, which does to its connections what networks do. */
export interface Proxy {
  readonly port: number;
  /** Connections that are open now. */
  readonly connections: number;
  /** `url` with this proxy in the place of the server. */
  urlFor(url: string): string;
  weather: Weather;
  /** Lets the weather change with the next request that fits, which is the first to meet it. */
  changeWith(request: (bytes: Buffer) => boolean, weather: Weather): void;
  /** Changes what the server says on its way to the client. */
  rewrite: ((bytes: Buffer) => Buffer) | undefined;
  /** Does this to the next reply that fits; resolves when it is done. */
  cutNext(cut: Cut): Promise<void>;
  /** Closes all connections: as if the server had, or `hard`, by a reset. */
  drop(options?: { hard?: boolean }): void;
  close(): Promise<void>;
}

/** Where PostgreSQL listens, from its URL; a socket's folder is in `host`. */
function targetOf(url: string): { host: string; port: number } | { path: string } {
  const [, authority = "", query = ""] =
    /^postgres(?:ql)?:\/\/([^/?]*)[^?]*(?:\?(.*))?$/.exec(url) ?? [];
  const folder = new URLSearchParams(query).get("host");
  const [, host = "", port = "5432"] = /^(?:.*@)?([^:]*)(?::(\d+))?$/.exec(authority) ?? [];
  return folder?.startsWith("/")
    ? { path: `${folder}/.s.PGSQL.${port}` }
    : { host, port: Number(port) };
}

/** Ends with ReadyForQuery outside of a transaction: the statement is answered in full, and what it wrote is committed. */
const isAnswered = (reply: Buffer) =>
  reply.length >= 6 && reply.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]));

/** Starts a proxy in front of the server that `url` leads to, on a free port of 127.0.0.1. */
export async function startProxy(url: string): Promise<Proxy> {
  const target = targetOf(url);
  const pairs = new Set<{ client: Socket; server: Socket }>();
  let cut: (Cut & { done: () => void }) | undefined;
  let change:
    | { readonly request: (bytes: Buffer) => boolean; readonly weather: Weather }
    | undefined;

  const listener = createServer((client) => {
    if (proxy.weather.type === "closed") return void client.destroy();
    const server = connect(target);
    const pair = { client, server };
    pairs.add(pair);
    let cutting: (Cut & { done: () => void }) | undefined;
    let reply: Buffer[] = [];

    const end = (hard: boolean) => {
      pairs.delete(pair);
      if (hard) client.resetAndDestroy();
      else client.destroy();
      server.destroy();
    };
    // What has been sent arrives before the end of the connection does.
    const pass = (to: Socket, bytes: Buffer) => {
      const { weather } = proxy;
      if (weather.type === "blackHole") return;
      if (weather.type === "slow") setTimeout(() => to.writable && to.write(bytes), weather.ms);
      else if (to.writable) to.write(bytes);
    };

    client.on("data", (bytes: Buffer) => {
      if (change?.request(bytes)) {
        proxy.weather = change.weather;
        change = undefined;
      }
      if (cut !== undefined && cutting === undefined && cut.request(bytes)) {
        cutting = cut;
        cut = undefined;
      }
      pass(server, bytes);
    });
    server.on("data", (said: Buffer) => {
      if (proxy.weather.type === "mute") return;
      const bytes = proxy.rewrite?.(said) ?? said;
      if (cutting === undefined) return pass(client, bytes);
      reply.push(bytes);
      const { pass: most, done } = cutting;
      if (most === "nothing" || most === "stall") {
        if (!isAnswered(Buffer.concat(reply))) return;
        if (most === "nothing") end(true);
      } else {
        client.write(Buffer.concat(reply).subarray(0, most), () => end(true));
      }
      reply = [];
      done();
    });
    for (const socket of [client, server]) {
      socket.on("error", () => end(true));
      socket.on("close", () => {
        if (proxy.weather.type !== "blackHole") end(false);
      });
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));

  const { port } = listener.address() as AddressInfo;
  const proxy: Proxy = {
    port,
    get connections() {
      return pairs.size;
    },
    urlFor(of) {
      const [, scheme, login = "", database = ""] =
        /^(postgres(?:ql)?:\/\/)([^/?]*@)?[^/?]*(\/[^?]*)?/.exec(of) ?? [];
      return `${scheme}${login}127.0.0.1:${port}${database}`;
    },
    weather: { type: "fair" },
    changeWith: (request, weather) => {
      change = { request, weather };
    },
    rewrite: undefined,
    cutNext: (next) =>
      new Promise((done) => {
        cut = { ...next, done };
      }),
    drop({ hard = false } = {}) {
      for (const { client, server } of [...pairs]) {
        if (hard) client.resetAndDestroy();
        else client.destroy();
        server.destroy();
      }
      pairs.clear();
    },
    close: async () => {
      proxy.weather = { type: "fair" };
      proxy.drop();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
  return proxy;
}

/** The request is for this prepared statement or one of its forms (`name:…`), whether it is sent for the first time (Parse) or by its name (Bind). */
export function statement(name: string): (bytes: Buffer) => boolean {
  const message = new RegExp(`(?:\\0|P[^]{4})${name}(?::[a-z:]+)?\\0`);
  return (bytes) => message.test(bytes.toString("latin1"));
}
