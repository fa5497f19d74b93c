import { expect, test } from "vitest";
import { connect } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { createSecretCipher } from "../base/secrets/index.ts";
import { attemptDelivery } from "./attempt.ts";
import type { ClaimedDelivery } from "./claim-statement.ts";
import { newSigningSecret, sealSigningSecret } from "./secrets.ts";

test("a delivery whose data the database cannot return is not attempted", async () => {
  const database = connect({
    url: "postgresql://somebody@127.0.0.1:1/none",
    poolSize: 4,
    role: undefined,
    log: createLog("silent"),
  });
  const cipher = createSecretCipher(Buffer.alloc(32));
  const owner = { id: "sub_1", workspace_id: "wsp_1", url: "https://example.com/events" };
  const delivery: ClaimedDelivery = {
    ...owner,
    id: "dlv_1",
    subscription_id: owner.id,
    kind: "event",
    event_id: "evt_1",
    type: "run.finished",
    version: 1,
    time: new Date(0),
    agent_id: "agt_1",
    run_id: "run_1",
    seq: 2,
    data: { artifact_id: "art_1", bytes: 100_000 },
    attempts: 1,
    lease: "2026-01-01 00:00:00+00",
    callback_url: null,
    payload: "full",
    format: "standard",
    secret: sealSigningSecret(cipher, owner, newSigningSecret()),
    previous_secret: null,
    headers: null,
    subscription_version: 1,
    is_failing: false,
  };
  const sent: URL[] = [];
  const { outcome } = await attemptDelivery(
    {
      database,
      cipher,
      egress: {
        callForBeginning: async (url) => {
          sent.push(url);
          return { status: 204, headers: {}, text: "" };
        },
      },
      publicUrl: () => "https://beckon.example.com",
      schedule: [0, 5],
      timeoutMs: 15_000,
    },
    delivery,
    new AbortController().signal,
  );
  expect(sent).toEqual([]);
  expect(outcome).toMatchObject({ kind: "released", countsForHealth: false, log: undefined });
  await database.close();
});
