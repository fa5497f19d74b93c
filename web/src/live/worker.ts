import { createClient } from "@beckon/client";
import { onSignedOut } from "../data/tabs.ts";
import { createHub } from "./hub.ts";
import type { HubMessage, Tab, TabMessage } from "./protocol.ts";

/**
 * The SharedWorker of one workspace, whose id is the worker's name. Its requests have the session
 * cookie, like those of the page, because it has the page's origin.
 */
const scope = globalThis as unknown as {
  readonly name: string;
  onconnect: (event: MessageEvent) => void;
};

const hub = createHub({
  client: createClient({
    url: location.origin,
    headers: { "beckon-workspace": scope.name },
  }),
  now: Date.now,
});
setInterval(hub.tick, 1_000);
onSignedOut(hub.signOut);

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  const tab: Tab = { send: (message: HubMessage) => port.postMessage(message) };
  port.onmessage = ({ data }: MessageEvent<TabMessage>) => hub.receive(tab, data);
  // Some browsers send this event when a tab has crashed. A tab that is closed sends `bye` itself.
  port.addEventListener("close", () => hub.receive(tab, { type: "bye" }));
};
