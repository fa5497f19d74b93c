import { clientOf } from "../data/index.ts";
import { createHub } from "./hub.ts";
import type { HubMessage, Tab, TabMessage } from "./protocol.ts";
import { createStreamBudget } from "./stream-budget.ts";
import { trustedScriptUrl } from "./trusted-types.ts";
import workerUrl from "./worker.ts?sharedworker&url";

/** A tab's connection to the hub of a workspace. */
export interface HubConnection {
  send(message: TabMessage): void;
  /**
   * Sends `hello` again. Call it if the hub has removed this tab, because the hub ignores all other
   * messages of a tab that it has removed.
   */
  rejoin(): void;
  close(): void;
}

/**
 * Connects to the hub of a workspace, which holds the live streams for all tabs. The hub runs in a
 * SharedWorker, or in this page if the browser has no SharedWorker.
 * @param receive called with each message of the hub
 */
export function connectHub(
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  receive: (message: HubMessage) => void,
): HubConnection {
  return "SharedWorker" in globalThis
    ? connectWorker(workspaceId, userId, receive)
    : connectPage(workspaceId, userId, receive);
}

function connectWorker(
  workspaceId: string,
  userId: string,
  receive: (message: HubMessage) => void,
): HubConnection {
  const { port } = new SharedWorker(trustedScriptUrl(workerUrl), { type: "module" });
  port.onmessage = ({ data }: MessageEvent<HubMessage>) => receive(data);
  const send = (message: TabMessage) => port.postMessage(message);
  // The tab says `bye` itself, because not all browsers notify the worker when a tab is closed. A
  // page that is restored from the back-forward cache is reloaded, because it has missed events.
  const leave = () => send({ type: "bye" });
  const comeBack = ({ persisted }: PageTransitionEvent) => {
    if (persisted) location.reload();
  };
  const wake = () => {
    if (!document.hidden) send({ type: "wake" });
  };
  addEventListener("pagehide", leave);
  addEventListener("pageshow", comeBack);
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  const join = () => send({ type: "hello", workspaceId, userId, isHidden: document.hidden });
  join();
  return {
    send,
    rejoin: join,
    close() {
      removeEventListener("pagehide", leave);
      removeEventListener("pageshow", comeBack);
      removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      leave();
      port.close();
    },
  };
}

/**
 * Runs the hub in this page. Its stream is closed while the tab is hidden, so that hidden tabs hold
 * no connections.
 */
function connectPage(
  workspaceId: string,
  userId: string,
  receive: (message: HubMessage) => void,
): HubConnection {
  const budget = createStreamBudget();
  const hub = createHub({ client: clientOf(workspaceId), budget, now: Date.now });
  // Messages are delivered later, like those of a worker. The tab can handle them only after this
  // function has returned its connection.
  const tab: Tab = { send: (message) => queueMicrotask(() => receive(message)) };
  const timer = setInterval(hub.tick, 1_000);
  const followVisibility = () =>
    hub.receive(
      tab,
      document.hidden ? { type: "bye" } : { type: "hello", workspaceId, userId, isHidden: false },
    );
  const wake = () => hub.receive(tab, { type: "wake" });
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", followVisibility);
  followVisibility();
  return {
    send: (message) => hub.receive(tab, message),
    rejoin: followVisibility,
    close() {
      clearInterval(timer);
      removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", followVisibility);
      hub.receive(tab, { type: "bye" });
    },
  };
}
