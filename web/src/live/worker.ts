import { createClient } from "@beckon/client";
import { announceWorker, onOtherWorker, onSignedOut } from "../data/tabs.ts";
import { createHub, type Hub } from "./hub.ts";
import type { HubMessage, Tab, TabMessage } from "./protocol.ts";
import { createStreamBudget } from "./stream-budget.ts";

/**
 * The SharedWorker of all workspaces. One worker can limit the streams of all tabs. With a worker
 * per workspace, this would need Web Locks, which browsers offer only on HTTPS. The requests of the
 * worker have the session cookie, like those of the page, because it has the page's origin.
 */
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void };

let userId: string | undefined;
const budget = createStreamBudget();
const hubs = new Map<string, Hub>();
/**
 * Hubs whose tabs have left. They are kept while starts of runs have no response, so that
 * `removeTabs` can abort these starts.
 */
const emptyHubs = new Set<Hub>();
const hubOf = (workspaceId: string): Hub => {
  const known = hubs.get(workspaceId);
  if (known !== undefined) return known;
  const headers = { "beckon-workspace": workspaceId };
  const client = createClient({ url: location.origin, headers });
  // Drops the hub of a workspace without tabs. If it were kept, its stream would resume after the
  // last event when a tab is opened later. The tab would get all events since then, although it
  // reads current data itself.
  const onEmpty = () => {
    hubs.delete(workspaceId);
    emptyHubs.add(hub);
  };
  const hub = createHub({ client, budget, now: Date.now, onEmpty });
  hubs.set(workspaceId, hub);
  return hub;
};
setInterval(() => {
  for (const hub of hubs.values()) hub.tick();
  for (const hub of emptyHubs) if (!hub.isStarting()) emptyHubs.delete(hub);
}, 1_000);
const removeTabs = () => {
  for (const hub of [...hubs.values(), ...emptyHubs]) hub.removeTabs();
};
onSignedOut(removeTabs);
// The URL of a worker contains a hash of its code. So after an upgrade, tabs that were opened
// before it keep the earlier worker. The streams of both could use all connections.
onOtherWorker(budget.shrink);
announceWorker();

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  const tab: Tab = { send: (message: HubMessage) => port.postMessage(message) };
  let hub: Hub | undefined;
  port.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.type === "hello") {
      // The cookie is now that of another person, also for requests of the other workspaces' tabs.
      if (userId !== undefined && userId !== data.userId) removeTabs();
      userId = data.userId;
      hub = hubOf(data.workspaceId);
    }
    hub?.receive(tab, data);
  };
  // Some browsers send this event when a tab has crashed. A tab that is closed sends `bye` itself.
  port.addEventListener("close", () => hub?.receive(tab, { type: "bye" }));
};
