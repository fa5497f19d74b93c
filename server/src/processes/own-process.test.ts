import { expect, test } from "vitest";
import { elapsed } from "../base/clock.ts";
import { OwnProcess } from "./index.ts";

const leaseMs = 60_000;

/** Returns a process whose last renewal was sent so long ago that its lease has expired. */
function expiredProcess(): OwnProcess {
  const own = new OwnProcess("prc_1");
  own.beginLease(leaseMs);
  own.recordRenewal(elapsed() - leaseMs);
  return own;
}

test("a process holds its lease from its first renewal on, for most of the lease", () => {
  const own = new OwnProcess("prc_1");
  own.beginLease(leaseMs);
  expect(own.holdsLease("prc_1")).toBe(false);
  own.recordRenewal(elapsed() - leaseMs / 2);
  expect(own.holdsLease("prc_1")).toBe(true);
  // A call that begins now could be sent after the end of the lease.
  own.recordRenewal(elapsed() - 0.8 * leaseMs);
  expect(own.holdsLease("prc_1")).toBe(false);
});

test("a process whose lease may have expired learns from its next renewal that it owns its runs", async () => {
  const own = expiredProcess();
  expect(own.holdsLease("prc_1")).toBe(false);
  const keeps = own.keepsLease("prc_1");
  own.recordRenewal(elapsed());
  expect(await keeps).toBe(true);
  expect(own.holdsLease("prc_1")).toBe(true);
});

test("a renewal whose response is read after the end of the lease does not count", async () => {
  const own = expiredProcess();
  let keeps: boolean | undefined;
  const known = own.keepsLease("prc_1").then((result) => {
    keeps = result;
  });
  own.recordRenewal(elapsed() - leaseMs);
  await new Promise((resolve) => setImmediate(resolve));
  expect(keeps).toBeUndefined();
  own.recordRenewal(elapsed());
  await known;
  expect(keeps).toBe(true);
});

test("a process that was declared dead does not own the runs of its earlier id", async () => {
  const own = expiredProcess();
  const keeps = own.keepsLease("prc_1");
  own.continueAs("prc_2", elapsed());
  expect(await keeps).toBe(false);
  expect(await own.keepsLease("prc_1")).toBe(false);
  expect([own.holdsLease("prc_1"), own.holdsLease("prc_2")]).toEqual([false, true]);
});
