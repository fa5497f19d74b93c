import { expect, test } from "vitest";
import { ConfigError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { AddressUnavailableError } from "../listen-error.ts";
import { databaseUnavailable } from "./in-workspace.ts";
import { explainStartFailure, MissingRightError } from "./start-failure.ts";

const url = "postgresql://ada:hunter2@db.example.com:5433/beckon";
const failed = (code: string, message = "it failed") => Object.assign(new Error(message), { code });
const rejected = exitCodes.databaseRejected;
const unreachable = exitCodes.databaseUnreachable;

test.each<[string, Error, number, RegExp]>([
  ["28P01", failed("28P01"), rejected, /5433 rejects the password of ada\. Correct user and/],
  [
    "no password",
    new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string"),
    rejected,
    /rejects the password of ada/,
  ],
  ["28000", failed("28000"), rejected, /does not let ada log in to beckon\. .*pg_hba\.conf/],
  [
    "3D000",
    failed("3D000"),
    rejected,
    /database beckon does not exist.*create database "beckon" owner "ada"/,
  ],
  ["42501", failed("42501"), rejected, /denies ada a right in beckon/],
  [
    "a certificate",
    failed("SELF_SIGNED_CERT_IN_CHAIN"),
    rejected,
    /not accepted\. Add sslmode=verify-full&sslrootcert=.*no-verify/,
  ],
  ["an old certificate", failed("CERT_HAS_EXPIRED"), rejected, /certificate.*is not accepted/],
  [
    "a certificate of another host",
    failed("ERR_TLS_CERT_ALTNAME_INVALID"),
    rejected,
    /use the host name that the certificate names/,
  ],
  ...[
    "The server does not support SSL connections",
    "There was an error establishing an SSL connection",
  ].map((message): [string, Error, number, RegExp] => [
    message,
    new Error(message),
    rejected,
    /does not offer TLS/,
  ]),
  [
    "ENOTFOUND",
    failed("ENOTFOUND"),
    unreachable,
    /host of PostgreSQL at db\.example\.com:5433 is not found/,
  ],
  ["ECONNREFUSED", failed("ECONNREFUSED"), unreachable, /Nothing listens at db\.example\.com:5433/],
  ["53300", failed("53300"), unreachable, /has no free connection/],
  ["57P03", failed("57P03"), unreachable, /cannot be reached/],
  ["25006", failed("25006"), unreachable, /5433 is read-only: .*standby.* Point DATABASE_URL at/],
  ["no answer", new Error("timeout expired"), unreachable, /cannot be reached/],
  ["a missing right", new MissingRightError("it failed"), rejected, /^it failed$/],
  [
    "a pooler that rejects options",
    failed("08P01", "unsupported startup parameter in options: statement_timeout"),
    exitCodes.invalidConfiguration,
    /pooler.* `options`.*PgBouncer\. Point it at PostgreSQL itself\./,
  ],
  ["a setting", new ConfigError("it failed"), exitCodes.invalidConfiguration, /^it failed$/],
  [
    "an address that is not available",
    new AddressUnavailableError("it failed"),
    exitCodes.addressUnavailable,
    /^it failed$/,
  ],
  ["a defect", new TypeError("it failed"), 1, /^it failed$/],
])("%s: the exit code, what happened and what to do", (_what, thrown, exitCode, reason) => {
  const failure = explainStartFailure(thrown, url);
  expect(failure).toEqual({ exitCode, reason: expect.stringMatching(reason) });
  expect(failure.reason).toContain(thrown.message);
  expect(failure.reason).not.toContain("hunter2");
});

test("a transaction that lost the database: the reason is that of the database", () => {
  const fullDisk = databaseUnavailable(failed("53100", "No space left on device"));
  expect(explainStartFailure(fullDisk, url)).toEqual({
    exitCode: unreachable,
    reason: expect.stringMatching(/cannot be reached\..*\(No space left on device\)$/),
  });
  const rejectedLogin = databaseUnavailable(failed("28P01"));
  expect(explainStartFailure(rejectedLogin, url).exitCode).toBe(rejected);
});

test.each([
  ["ENOENT", /^The PostgreSQL inside cannot be used\. See \/data\/postgres\.log, and check/],
  ["53100", /^The PostgreSQL inside cannot be used\. See \/data\/postgres\.log, and check/],
  ["53300", /^The PostgreSQL inside has no free connection\. Disconnect other programs/],
  ["25006", /^The PostgreSQL inside is read-only\. Turn default_transaction_read_only off\./],
])("the PostgreSQL inside, %s: no setting that an operator cannot have set", (code, reason) => {
  const inside = "postgresql://beckon@localhost/beckon?host=/data/socket";
  const failure = explainStartFailure(failed(code), inside, "/data/postgres.log");
  expect(failure).toEqual({ exitCode: unreachable, reason: expect.stringMatching(reason) });
  expect(failure.reason).not.toMatch(/DATABASE_URL|max_connections/);
});

test("a host with two addresses: the reason names both", () => {
  const refused = ["::1", "127.0.0.1"].map((ip) => new Error(`connect ECONNREFUSED ${ip}:5433`));
  const thrown = Object.assign(new AggregateError(refused), { code: "ECONNREFUSED" });
  expect(explainStartFailure(thrown, url).reason).toMatch(
    /\(connect ECONNREFUSED ::1:5433, connect ECONNREFUSED 127\.0\.0\.1:5433\)$/,
  );
});

test("a socket is named by its folder, and a URL that cannot be parsed is not named", () => {
  const socket = "postgresql://ada@localhost:5433/beckon?host=/run/postgresql";
  expect(explainStartFailure(failed("ENOENT"), socket).reason).toMatch(
    /^Nothing listens at \/run\/postgresql\./,
  );
  for (const broken of ["postgresql://ada:hunter2@host:port/x", undefined])
    expect(explainStartFailure(failed("28P01"), broken)).toEqual({
      exitCode: 1,
      reason: "it failed",
    });
});
