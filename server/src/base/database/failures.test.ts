import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type FailureKind, failureKind, isUniqueViolation, isUnreachable } from "./failures.ts";

const failed = (code: string, message = "failed") => Object.assign(new Error(message), { code });

test.each<[FailureKind, string, string]>([
  ["lost", "08006", "the connection broke"],
  ["lost", "57P01", "an administrator terminated the connection"],
  ["lost", "57P02", "the server crashed"],
  ["lost", "57P03", "the server is starting up"],
  ["lost", "57014", "a statement timed out"],
  ["lost", "25P03", "a transaction was idle for too long"],
  ["lost", "25P04", "a transaction timed out"],
  ["lost", "53300", "the server has no free connection"],
  ["lost", "53100", "the server's disk is full"],
  ["lost", "58030", "the server cannot read its disk"],
  ["lost", "25006", "the server has become a standby"],
  ["lost", "40003", "a commit's outcome is unknown"],
  ["lost", "28P01", "a replaced server does not have the role"],
  ["lost", "3D000", "a replaced server does not have the database"],
  ["lost", "ECONNREFUSED", "no process listens"],
  ["lost", "ECONNRESET", "the peer reset the connection"],
  ["lost", "EPIPE", "the peer closed the connection, and the code looks like an SQLSTATE"],
  ["lost", "ENOENT", "the socket's file does not exist"],
  ["lost", "EAI_AGAIN", "the name service is unavailable"],
  ["lost", "ERR_STREAM_DESTROYED", "the stream was closed before the write"],
  ["lost", "CERT_HAS_EXPIRED", "the server's certificate has expired"],
  ["lost", "ERR_TLS_CERT_ALTNAME_INVALID", "the server's certificate names another host"],
  ["lost", "DEPTH_ZERO_SELF_SIGNED_CERT", "the server has a new certificate that is self-signed"],
  ["lost", "SELF_SIGNED_CERT_IN_CHAIN", "the CA of the server's certificate is not trusted"],
  ["lost", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the server sends an incomplete chain"],
  ["lost", "ERR_SSL_WRONG_VERSION_NUMBER", "the server does not speak TLS"],
  ["again", "40P01", "a deadlock"],
  ["again", "40001", "a serialization failure"],
  ["again", "55P03", "a lock is not available"],
  ["data", "22021", "a text contains NUL"],
  ["data", "22P02", "a text is not JSON"],
  ["data", "23505", "a unique constraint is violated"],
  ["data", "23503", "a foreign key is violated"],
  ["defect", "42601", "the statement is wrong"],
  ["defect", "42501", "a privilege is missing"],
  ["defect", "XX000", "an internal error of the server"],
  ["defect", "ERR_INVALID_ARG_TYPE", "our code is wrong"],
])("%s: %s, %s", (kind, code) => {
  expect(failureKind(failed(code))).toBe(kind);
});

test.each([
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "timeout expired",
  "timeout exceeded when trying to connect",
  "Query read timeout",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "Postgres connection has been discarded",
  "The server does not support SSL connections",
  "There was an error establishing an SSL connection",
])("lost: a driver error without a code: %s", (message) => {
  expect(failureKind(new Error(message))).toBe("lost");
});

test("any other error is a defect", () => {
  expect(failureKind(new TypeError("x is not a function"))).toBe("defect");
  expect(failureKind(new Error("the certificate of this key is missing"))).toBe("defect");
  expect(failureKind("a text")).toBe("defect");
  expect(failureKind(undefined)).toBe("defect");
  // A closed pool never opens again, so a retry would never end.
  expect(failureKind(new Error("Cannot use a pool after calling end on the pool"))).toBe("defect");
});

test.each(["ECONNREFUSED", "ENOENT", "57P03", "53300"])(
  "a start waits for a server that fails with %s",
  (code) => {
    expect(isUnreachable(failed(code))).toBe(true);
  },
);

test.each(["28P01", "3D000", "28000", "42501", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID"])(
  "a start does not wait for a server that rejects it with %s",
  (code) => {
    expect(isUnreachable(failed(code))).toBe(false);
  },
);

test("a start does not wait for a server without TLS", () => {
  expect(isUnreachable(new Error("The server does not support SSL connections"))).toBe(false);
});

test("a missing local file does not count as an unreachable server", () => {
  expect(() => readFileSync("/nowhere")).toThrow(
    expect.toSatisfy((thrown) => !isUnreachable(thrown)),
  );
});

test("a unique violation is distinguished from other errors", () => {
  expect(isUniqueViolation(failed("23505"))).toBe(true);
  expect(isUniqueViolation(failed("23503"))).toBe(false);
  expect(isUniqueViolation("23505")).toBe(false);
});
