import type { ClaimedDelivery } from "../src/deliveries/claim-statement.ts";

/** A claimed delivery of an event with no data, for tests that need no row in the database. */
export const claimedDelivery: ClaimedDelivery = {
  id: "dlv_1",
  workspace_id: "wsp_1",
  subscription_id: "sub_1",
  kind: "event",
  event_id: "evt_1",
  type: "run.finished",
  version: 1,
  time: new Date(0),
  agent_id: "agt_1",
  run_id: "run_1",
  seq: 2,
  data: "{}",
  data_bytes: 2,
  attempts: 1,
  lease: "2026-01-01 00:00:00+00",
  url: "https://example.com/events",
  callback_url: null,
  payload: "full",
  format: "standard",
  secret: "",
  previous_secret: null,
  headers: null,
  subscription_version: 1,
  is_failing: false,
};
