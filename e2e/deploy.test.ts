import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { databaseAt } from "../server/test/database-url.ts";
import { held, type ModelServer, says, startModelServer } from "../server/test/model-server.ts";
import { openClient } from "../server/test/open-client.ts";
import { startTraceReceiver, type TraceReceiver } from "../server/test/trace-receiver.ts";
import { checkout, freePort, startProduct, temporaryFolder, until } from "./product.ts";
import { isInstalled, path, writeNginxConfig } from "./proxy.ts";

/**
 * Tests the examples of deploy/ that this machine can run: the health check of the image, the
 * script that creates the role, and the proxies. The examples of deploy/nginx and deploy/caddy are
 * changed in addresses and certificates only, and run with Debian's packages of nginx and Caddy.
 * `script/test` installs these packages and psql if it can. Without them these tests are skipped.
 */

const folder = temporaryFolder();
let model: ModelServer;
let traces: TraceReceiver;
let port: number;

beforeAll(async () => {
  model = await startModelServer();
  traces = await startTraceReceiver();
  port = await freePort();
  await startProduct({
    PORT: String(port),
    BECKON_DATA_DIR: join(folder, "data"),
    OPENAI_BASE_URL: model.url,
    PUBLIC_URL: "https://agents.example.com",
    BECKON_TRUST_PROXY: "1",
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    OTEL_BSP_SCHEDULE_DELAY: "20",
  });
});
afterAll(() => Promise.all([model.close(), traces.close()]));

const proxies = [
  {
    program: "nginx",
    scheme: "https",
    write(listen: number): readonly string[] {
      const certificate = [
        "-subj",
        "/CN=agents.example.com",
        "-keyout",
        "key.pem",
        "-out",
        "c.pem",
      ];
      execFileSync(
        "openssl",
        ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...certificate],
        { cwd: folder, stdio: "ignore" },
      );
      const example = readFileSync(join(checkout, "deploy/nginx/beckon.conf"), "utf8")
        .replace("127.0.0.1:3000", `127.0.0.1:${port}`)
        .replace("listen 443", `listen 127.0.0.1:${listen}`)
        .replace("listen [::]:443 ssl http2;", "")
        .replace("/etc/ssl/beckon/fullchain.pem", join(folder, "c.pem"))
        .replace("/etc/ssl/beckon/privkey.pem", join(folder, "key.pem"))
        .replaceAll("/var/log/nginx", folder);
      const config = writeNginxConfig(folder, example);
      return ["nginx", "-p", folder, "-c", config];
    },
    log: () => readFileSync(join(folder, "access.log"), "utf8"),
    failed: "GET /down",
  },
  {
    program: "caddy",
    scheme: "http",
    write(listen: number): readonly string[] {
      // The address has the scheme http, because for https Caddy would request a certificate.
      // Nothing listens on port 1, so Caddy writes a message about each request to /down.
      const example = readFileSync(join(checkout, "deploy/caddy/Caddyfile"), "utf8")
        .replace("127.0.0.1:3000", `127.0.0.1:${port}`)
        .replace(
          "agents.example.com {",
          `http://agents.example.com:${listen} {\n\tlog\n\treverse_proxy /down 127.0.0.1:1`,
        )
        // The first line with only a brace begins the global options.
        .replace(/^\{$/m, "{\n\tadmin off");
      writeFileSync(join(folder, "Caddyfile"), example);
      return ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
    },
    log: (errors: string) => errors,
    failed: '"http.log.error',
  },
] as const;

describe.each(proxies)("the example of $program", ({ program, scheme, write, log, failed }) => {
  test.skipIf(!isInstalled(program))(
    "passes calls, disconnects, the caller's address and each event of a stream at once, and no trace, and logs no secret",
    async () => {
      const listen = await freePort();
      const [file = "", ...args] = write(listen);
      const env = { PATH: path, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      const proxy = spawn(file, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
      let errors = "";
      proxy.stderr.on("data", (chunk) => {
        errors += chunk;
      });
      try {
        const curl = (...more: string[]) => {
          const name = "agents.example.com";
          const resolve = ["--resolve", `${name}:${listen}:127.0.0.1`];
          const [route = "", ...rest] = more;
          return spawn("curl", [
            "-skN",
            "-H",
            `host: ${name}`,
            ...resolve,
            `${scheme}://${name}:${listen}${route}`,
            ...rest,
          ]);
        };
        await until(program, async () => {
          if (proxy.exitCode !== null) throw new Error(`${program} exited`);
          return (await textOf(curl("/readyz"))).includes("true");
        });

        const key = readFileSync(join(folder, "data/bootstrap.key"), "utf8").trim();
        const asKey = ["-H", `x-api-key: ${key}`, "-H", "content-type: application/json"];
        const body = JSON.stringify({ name: program, model: "openai-chat/scripted" });
        const created = await textOf(curl("/api/public/agents", ...asKey, "-d", body));
        const agent: string = JSON.parse(created).data.id;

        // The model responds only after the test has received the first event. So the test fails if
        // the proxy buffers the stream until the run ends.
        const released = Promise.withResolvers<void>();
        model.script(held(released.promise, says("Hello")));
        const invoke = ["-H", "prefer: respond-async", "-d", '{"input":"Hi"}'];
        const run: string = JSON.parse(
          await textOf(curl(`/api/public/agents/${agent}/invoke`, ...asKey, ...invoke)),
        ).run_id;
        const stream = curl(
          `/api/public/runs/${run}/events`,
          ...asKey,
          "-H",
          "accept: text/event-stream",
        );
        let events = "";
        stream.stdout.on("data", (chunk) => {
          events += chunk;
        });
        await until("the first event, while the run continues", () =>
          events.includes("run.started"),
        );
        expect(events).not.toContain("run.finished");
        released.resolve();
        await until("the last event", () => events.includes("run.finished"));

        // Beckon must notice that a caller has disconnected while the run continues.
        const ended = Promise.withResolvers<void>();
        model.script(held(ended.promise, says("Hello")));
        const calls = model.requests.length;
        const waiting = curl(
          `/api/public/agents/${agent}/invoke`,
          ...asKey,
          "-d",
          '{"input":"Hi"}',
        );
        await until("the call of the model", () => model.requests.length > calls);
        waiting.kill("SIGKILL");
        const route = "/api/public/agents/:agent_id/invoke";
        await traces.await(
          ({ name, attributes }) =>
            name === `POST ${route}` && attributes["http.response.status_code"] === undefined,
        );
        ended.resolve();

        // The proxy must replace the address in a caller's `x-forwarded-for` by the real one, and
        // remove a caller's `traceparent`.
        traces.spans.length = 0;
        const trace = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        const forged = ["-H", "x-forwarded-for: 203.0.113.9", "-H", trace];
        await textOf(
          curl("/api/public/keys", ...asKey, ...forged, "-d", '{"name":"k","preset":"invoke"}'),
        );
        const audit = await textOf(curl("/api/public/audit?limit=1", ...asKey));
        expect(audit).toContain("127.0.0.1");
        expect(audit).not.toContain("203.0.113.9");
        const [span] = await traces.await(({ name }) => name === "POST /api/public/keys");
        expect(span).toMatchObject({ parentSpanId: "", links: [] });

        const trigger = ["-d", '{"name":"t"}'];
        const { token } = JSON.parse(
          await textOf(curl(`/api/public/agents/${agent}/triggers`, ...asKey, ...trigger)),
        ).data;
        expect(await textOf(curl(`/api/public/triggers/${token}?a=b`, "-d", "Hi"))).toContain(
          "run_",
        );
        await textOf(curl("/down", ...asKey, "-H", "x-gitlab-token: sender-secret"));
        await until(
          "the lines of the requests",
          () => log(errors).includes("/api/public/triggers/-") && log(errors).includes(failed),
        );
        expect(log(errors)).toContain("/api/public/keys");
        expect(log(errors)).not.toMatch(/bkt_|a=b|sender-secret/);
        expect(log(errors)).not.toContain(key);
      } catch (thrown) {
        throw new Error(`${program} wrote: ${errors}`, { cause: thrown });
      } finally {
        const exited = new Promise((resolve) => proxy.once("exit", resolve));
        proxy.kill("SIGTERM");
        await exited;
      }
    },
  );
});

test("the health check of the image succeeds only while Beckon is ready", async () => {
  const dockerfile = readFileSync(join(checkout, "deploy/Dockerfile"), "utf8");
  const [, command = "[]"] = /^HEALTHCHECK [^[]*(\[.*\])$/m.exec(dockerfile) ?? [];
  const [, ...args]: string[] = JSON.parse(command.replace(/^CMD /, ""));
  const exitCodeAt = (at: number) =>
    new Promise((resolve) =>
      spawn(process.execPath, args, { env: { PORT: String(at) } }).once("exit", resolve),
    );
  expect(await exitCodeAt(port)).toBe(0);
  expect(await exitCodeAt(await freePort())).toBe(1);
});

test("the user of the image can read it, also if it is built from a checkout with umask 077", () => {
  const dockerfile = readFileSync(join(checkout, "deploy/Dockerfile"), "utf8");
  // The last command before the folder is copied into the image.
  const [, command = "false"] = /&& (.*)\n\nFROM .*$/m.exec(dockerfile) ?? [];
  const installed = temporaryFolder();
  mkdirSync(join(installed, "bin"), { mode: 0o700 });
  writeFileSync(join(installed, "bin/beckon"), "", { mode: 0o700 });
  writeFileSync(join(installed, "0001.sql"), "", { mode: 0o600 });
  execFileSync("sh", ["-c", command], { cwd: installed });
  const modes = ["bin", "bin/beckon", "0001.sql"].map(
    (path) => statSync(join(installed, path)).mode & 0o777,
  );
  expect(modes).toEqual([0o755, 0o755, 0o644]);
});

test("each volume that the documents mount into the image belongs to its user", () => {
  const dockerfile = readFileSync(join(checkout, "deploy/Dockerfile"), "utf8");
  const [, folders = ""] = /install -d -o beckon -g beckon -m 0700 (.*)$/m.exec(dockerfile) ?? [];
  const documents = ["docs/install.md", "docs/operate.md"].map((path) =>
    readFileSync(join(checkout, path), "utf8"),
  );
  const mounted = [...documents.join().matchAll(/--volume [\w-]+:(\/\w+)/g)].map(([, at]) => at);
  expect(folders.split(" ").sort()).toEqual([...new Set(mounted)].sort());
});

test("on a new host, the documented commands give the user of the image the backup and the master key", () => {
  const operate = readFileSync(join(checkout, "docs/operate.md"), "utf8");
  const [, command = "false"] = /--user 0 .*\\\n.*\\\n {2}'(.*)'$/m.exec(operate) ?? [];
  const root = temporaryFolder();
  for (const name of ["from/2026-11-22", "secure", "backups", "data"])
    mkdirSync(join(root, name), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, "from/2026-11-22/backup.json"), "", { mode: 0o600 });
  writeFileSync(join(root, "secure/master.key"), "", { mode: 0o600 });
  // Only root can give files to the user of the image, so the owner is printed instead.
  const script = command.replaceAll(" /", ` ${root}/`).replace("chown", "echo");
  expect(execFileSync("sh", ["-c", script], { encoding: "utf8" })).toBe(
    `-R 10001:10001 ${root}/backups ${root}/data\n`,
  );
  for (const path of ["backups/2026-11-22/backup.json", "data/master.key"])
    expect(statSync(join(root, path)).mode & 0o777).toBe(0o600);
  // The master key comes from the volume of the old installation.
  expect(operate).toMatch(/^docker cp beckon:\/data\/master\.key \/secure\/$/m);
});

test("the documented start of the image has an init process and restarts, as compose.yaml has", () => {
  const compose = readFileSync(join(checkout, "deploy/compose.yaml"), "utf8");
  expect(compose).toMatch(/^ {4}init: true$/m);
  expect(compose.match(/^ {4}restart: unless-stopped$/gm)).toHaveLength(2);
  const install = readFileSync(join(checkout, "docs/install.md"), "utf8");
  const starts = install.match(/^docker run --(?!rm ).*$/gm) ?? [];
  expect(starts).toHaveLength(1);
  for (const option of [" --detach ", " --init ", " --restart unless-stopped "])
    expect(starts[0]).toContain(option);
});

test("compose.yaml sets no setting of Beckon, which would override the one in beckon.env", () => {
  const compose = readFileSync(join(checkout, "deploy/compose.yaml"), "utf8");
  const [beckon = ""] = /^ {2}beckon:\n(?: {4}.*\n)+/m.exec(compose) ?? [];
  expect(beckon).toContain("env_file: secrets/beckon.env");
  expect(beckon).not.toMatch(/^ +environment:/m);
});

test("git and the build of the image ignore the dumps that the documented commands write", () => {
  const documents = ["docs/install.md", "docs/operate.md"].map((path) =>
    readFileSync(join(checkout, path), "utf8"),
  );
  const names = [...documents.join("\n").matchAll(/ > ([\w.]+)\)?$/gm)].map(
    ([, name = ""]) => name,
  );
  expect(names).toHaveLength(3);
  const patternsIn = (path: string) =>
    readFileSync(join(checkout, path), "utf8").trim().split("\n");
  const docker = patternsIn("deploy/Dockerfile.dockerignore");
  // For git, a pattern without a slash applies to all folders.
  const git = patternsIn(".gitignore").map((each) => (each.includes("/") ? each : `**/${each}`));
  for (const path of names.flatMap((name) => [name, `deploy/${name}`]))
    for (const patterns of [docker, git])
      expect(patterns.filter((pattern) => matchesGlob(path, pattern))).toHaveLength(1);
});

/** Returns the documented commands that write or read a dump, each as one line. */
function dumpCommands(): readonly string[] {
  const documents = ["docs/install.md", "docs/operate.md"].map((path) =>
    readFileSync(join(checkout, path), "utf8"),
  );
  return (
    documents
      .join("\n")
      .replaceAll(/ \\\n */g, " ")
      .match(/^.*\bpg_(?:dump|restore) .*\bbeckon\.dump\b.*$/gm) ?? []
  );
}

test("other users of the machine cannot read the dumps that the documented commands write", () => {
  const dumps = dumpCommands().filter((command) => command.includes("pg_dump"));
  expect(dumps).toHaveLength(5);
  for (const command of dumps) expect(command).toMatch(/^ *\(umask 077; .*\)$/);
});

test("the documented commands of dumps have no password in arguments, which other users can see", () => {
  const connecting = dumpCommands().filter((command) => /_URL\b|postgresql:/.test(command));
  expect(connecting).toHaveLength(3);
  for (const command of connecting) {
    expect(command).toMatch(/\bPGPASSWORD=… pg_/);
    expect(command).not.toMatch(/\$DATABASE_URL|:…@/);
  }
});

test("the documented commands do not move an installation into the one of an earlier restore", () => {
  const operate = readFileSync(join(checkout, "docs/operate.md"), "utf8");
  const commands = operate.match(/^.*\bmv .*postgres\.old"?( &&\n.*)?$/gm) ?? [];
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    const cwd = temporaryFolder();
    const data = join(cwd, "data");
    for (const name of ["postgres", "postgres.old"]) {
      mkdirSync(join(data, name), { recursive: true });
      writeFileSync(join(data, name, name), "");
    }
    writeFileSync(join(data, "postgres.elsewhere"), `${data}\n`);
    // The command for Docker is executed without Docker.
    const script = command
      .replace(/docker run .* --entrypoint mv beckon /, "mv ")
      .replaceAll(" /data/", ` ${data}/`);
    const move = () => spawnSync("sh", ["-c", script], { cwd }).status;
    const before = readdirSync(data, { recursive: true }).sort();
    expect(move()).toBe(1);
    expect(readdirSync(data, { recursive: true }).sort()).toEqual(before);
    rmSync(join(data, "postgres.old"), { recursive: true });
    expect(move()).toBe(0);
    expect(readdirSync(join(data, "postgres.old"))).toEqual(["postgres"]);
  }
});

test("compose.yaml limits the log of each service, which would fill the disk of PostgreSQL", () => {
  const compose = readFileSync(join(checkout, "deploy/compose.yaml"), "utf8");
  expect(compose).toMatch(/^x-logging: &logging\n {2}driver: local\n {2}options: .*max-size: 20m/m);
  const images = compose.match(/^ {4}image: /gm);
  expect(images).toHaveLength(2);
  expect(compose.match(/^ {4}logging: \*logging$/gm)).toHaveLength(2);
});

test("the commands in compose.yaml create the secrets, and keep existing ones", () => {
  const compose = readFileSync(join(checkout, "deploy/compose.yaml"), "utf8");
  const [commands = ""] = /^# {3}mkdir(?:.*\n)+?(?=# {3}docker)/m.exec(compose) ?? [];
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, "postgres"));
  writeFileSync(join(cwd, "postgres/create-role.sh"), "");
  const run = () => {
    spawnSync("sh", ["-c", commands.replaceAll(/^# {3}/gm, "")], { cwd });
    return ["postgres_password", "beckon.env"].map((name) =>
      readFileSync(join(cwd, "secrets", name), "utf8"),
    );
  };
  const created = run();
  expect(created[1]).toMatch(/^BECKON_MASTER_KEY=.{44}$/m);
  expect(run()).toEqual(created);
});

test("the commands in beckon.service create beckon.env, and keep an existing one", () => {
  const unit = readFileSync(join(checkout, "deploy/systemd/beckon.service"), "utf8");
  const [, command = ""] = /^# {3}(.* \/etc\/beckon\/beckon\.env)$/m.exec(unit) ?? [];
  const file = join(temporaryFolder(), "beckon/beckon.env");
  const run = () => execFileSync("sh", ["-c", command.replaceAll("/etc/beckon/beckon.env", file)]);
  run();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, "PORT=3000\n");
  run();
  expect(readFileSync(file, "utf8")).toBe("PORT=3000\n");
});

test("journald does not limit the rate of the unit's lines, one of each request and each run", () => {
  const unit = readFileSync(join(checkout, "deploy/systemd/beckon.service"), "utf8");
  expect(unit).toMatch(/^LogRateLimitIntervalSec=0$/m);
});

test("the documented way back in a checkout switches to a commit", () => {
  const install = readFileSync(join(checkout, "docs/install.md"), "utf8");
  const [, command = ""] = /`(git switch .*?)`/.exec(install) ?? [];
  const [, notedBy = ""] = /`(git rev-parse .*?)`/.exec(install) ?? [];
  const cwd = temporaryFolder();
  const run = (script: string) => execFileSync("sh", ["-c", script], { cwd, encoding: "utf8" });
  const commit = "git -c user.name=a -c user.email=a@example.com commit --quiet --allow-empty -m a";
  run(`git init --quiet && ${commit}`);
  const old = run(notedBy);
  run(`${commit} && ${command.replace("<commit>", old.trim())}`);
  expect(run(notedBy)).toBe(old);
});

test("what root installs as documented can be read by the user of the unit, with any umask of root", () => {
  const documents = ["deploy/systemd/beckon.service", "docs/install.md"].map((path) =>
    readFileSync(join(checkout, path), "utf8"),
  );
  const commands = documents.join("\n").match(/^.*npm install --prefix \/opt\/.*$/gm) ?? [];
  expect(commands).toHaveLength(4);
  for (const command of commands) expect(command).toMatch(/\(umask 022; npm install .*\)$/);
});

test("the documented systemd-run of doctor has the folders and the read-only system of the unit", () => {
  const unit = readFileSync(join(checkout, "deploy/systemd/beckon.service"), "utf8");
  const expected = unit
    .match(
      /^(EnvironmentFile|StateDirectory|StateDirectoryMode|Protect(System|Home)|PrivateTmp)=.*$/gm,
    )
    ?.sort();
  const install = readFileSync(join(checkout, "docs/install.md"), "utf8");
  const commands = install.match(/^ *systemd-run (.*\\\n)+.* doctor$/gm) ?? [];
  const properties = commands.map((command) =>
    [...command.matchAll(/--property=(\S+)/g)].map(([, property]) => property).sort(),
  );
  expect(properties).toEqual([expected, expected]);
});

test.skipIf(!isInstalled("psql", "postgresql-client"))(
  "with the environment of PostgreSQL's image, the role that owns the database can log in",
  async () => {
    const { adminUrl } = inject("server");
    const admin = await openClient(adminUrl);
    // The test server has a role `beckon` already, so the script gets another name.
    const name = `deploy_${randomBytes(8).toString("hex")}`;
    onTestFinished(async () => {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`drop role if exists ${name}`);
      await admin.end();
    });
    const script = readFileSync(join(checkout, "deploy/postgres/create-role.sh"), "utf8");
    const file = join(folder, "create-role.sh");
    writeFileSync(file, script.replaceAll("beckon", name), { mode: 0o755 });
    const server = new URL(adminUrl);
    const password = "it's a secret";
    // The script needs POSTGRES_PASSWORD also if the user sets POSTGRES_PASSWORD_FILE: the image
    // reads that file into POSTGRES_PASSWORD before it runs the script.
    execFileSync(file, {
      stdio: "pipe",
      env: {
        PATH: process.env.PATH,
        POSTGRES_USER: server.username,
        POSTGRES_PASSWORD: password,
        PGHOST: server.hostname,
        PGPORT: server.port,
        PGPASSWORD: decodeURIComponent(server.password),
      },
    });
    const own = new URL(databaseAt(adminUrl, name));
    own.username = name;
    own.password = password;
    const client = await openClient(own.href);
    onTestFinished(() => client.end());
    const { rows } = await client.query("show is_superuser");
    expect(rows).toEqual([{ is_superuser: "off" }]);
    await client.query("create table in_public ()");
  },
);

async function textOf({ stdout }: ReturnType<typeof spawn>): Promise<string> {
  let text = "";
  for await (const chunk of stdout ?? []) text += chunk;
  return text;
}
