import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Network condition for all connections. */
export type NetworkCondition =
  | { readonly type: "fair" }
  /** Delays every piece by `ms` milliseconds, in order, in both directions. */
  | { readonly type: "slow"; readonly ms: number }
  /** Drops everything silently in both directions. New connections are accepted and get no data. */
  | { readonly type: "blackHole" }
  /** Forwards requests and drops replies. */
  | { readonly type: "mute" }
  /** Closes new connections at once and keeps existing ones. */
  | { readonly type: "closed" };

/** Which reply of the server is interrupted, and how. */
export interface ReplyInterruption {
  /** Selects the request by the bytes that the client sends. */
  readonly request: (bytes: Buffer) => boolean;
  /**
   * How much of the reply is forwarded before the connection is reset. `nothing`: reset after the
   * server's complete reply, so its work is committed and the client gets nothing. A number: that
   * many bytes are forwarded when the reply begins, then the connection is reset. `stall`: nothing
   * is forwarded, but the connection stays open. A promise: the complete reply is forwarded when it
   * resolves, in every network condition.
   */
  readonly pass: "nothing" | "stall" | number | Promise<void>;
}

/** A TCP proxy in front of PostgreSQL that simulates network faults. */
export interface Proxy {
  readonly port: number;
  /** Number of open connections. */
  readonly connections: number;
  /** Returns `url` with this proxy instead of the server. */
  urlFor(url: string): string;
  /** The current network condition. A test can set it at any time. */
  weather: NetworkCondition;
  /**
   * Changes the network condition when the next matching request arrives, including for that
   * request.
   */
  changeWith(request: (bytes: Buffer) => boolean, weather: NetworkCondition): void;
  /** Transforms the server's replies; undefined: they are passed on unchanged. */
  rewrite: ((bytes: Buffer) => Buffer) | undefined;
  /** Transforms what the client sends; undefined: it is passed on unchanged. */
  rewriteRequest: ((bytes: Buffer) => Buffer) | undefined;
  /** Interrupts the reply to the next matching request. Resolves when that is done. */
  cutNext(cut: ReplyInterruption): Promise<void>;
  /** Closes all connections: normally, or with a TCP reset if `hard`. */
  drop(options?: { hard?: boolean }): void;
  close(): Promise<void>;
}

/** Returns the address of PostgreSQL. For a Unix socket, the parameter `host` has its folder. */
function targetOf(url: string): { host: string; port: number } | { path: string } {
  const [, authority = "", query = ""] =
    /^postgres(?:ql)?:\/\/([^/?]*)[^?]*(?:\?(.*))?$/.exec(url) ?? [];
  const folder = new URLSearchParams(query).get("host");
  const [, host = "", port = "5432"] = /^(?:.*@)?([^:]*)(?::(\d+))?$/.exec(authority) ?? [];
  return folder?.startsWith("/")
    ? { path: `${folder}/.s.PGSQL.${port}` }
    : { host, port: Number(port) };
}

/**
 * Whether the reply ends with ReadyForQuery outside a transaction: the statement is complete and
 * committed.
 */
const isAnswered = (reply: Buffer) =>
  reply.length >= 6 && reply.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]));

/** Starts a proxy in front of the server of `url`, on a free port of 127.0.0.1. */
export async function startProxy(url: string): Promise<Proxy> {
  const target = targetOf(url);
  const pairs = new Set<{ client: Socket; server: Socket }>();
  let interruption: (ReplyInterruption & { done: () => void }) | undefined;
  let change:
    | { readonly request: (bytes: Buffer) => boolean; readonly weather: NetworkCondition }
    | undefined;

  const listener = createServer((client) => {
    if (proxy.weather.type === "closed") return void client.destroy();
    const server = connect(target);
    const pair = { client, server };
    pairs.add(pair);
    let cutting: (ReplyInterruption & { done: () => void }) | undefined;
    let reply: Buffer[] = [];

    const end = (hard: boolean) => {
      pairs.delete(pair);
      if (hard) client.resetAndDestroy();
      else client.destroy();
      server.destroy();
    };
    // Forwards bytes, depending on the network condition.
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
      if (interruption !== undefined && cutting === undefined && interruption.request(bytes)) {
        cutting = interruption;
        interruption = undefined;
      }
      pass(server, proxy.rewriteRequest?.(bytes) ?? bytes);
    });
    server.on("data", (said: Buffer) => {
      if (proxy.weather.type === "mute") return;
      const bytes = proxy.rewrite?.(said) ?? said;
      if (cutting === undefined) return pass(client, bytes);
      reply.push(bytes);
      const { pass: maxPass, done } = cutting;
      if (typeof maxPass !== "number") {
        const whole = Buffer.concat(reply);
        if (!isAnswered(whole)) return;
        if (maxPass === "nothing") end(true);
        else if (maxPass !== "stall") {
          cutting = undefined;
          void maxPass.then(() => client.writable && client.write(whole));
        }
      } else {
        client.write(Buffer.concat(reply).subarray(0, maxPass), () => end(true));
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
    rewriteRequest: undefined,
    cutNext: (next) =>
      new Promise((done) => {
        interruption = { ...next, done };
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

/**
 * Returns a function that matches requests for this prepared statement or one of its variants
 * (`name:…`): the first request, which prepares it (Parse), and later ones, which use it (Bind).
 */
export function statement(name: string): (bytes: Buffer) => boolean {
  const message = new RegExp(`(?:\\0|P[^]{4})${name}(?::[a-z:]+)?\\0`);
  return (bytes) => message.test(bytes.toString("latin1"));
}
