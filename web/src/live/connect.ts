import { clientOf } from "../data/index.ts";
import { createHub } from "./hub.ts";
import type { HubMessage, Tab, TabMessage } from "./protocol.ts";
import { createSilence } from "./silence.ts";
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

/** Time in ms between two checks whether the SharedWorker has died. */
const checkMs = 5_000;

/**
 * Number of checks after which the script of a SharedWorker that has sent nothing counts as one
 * that cannot be loaded: the request for it may never be answered, and then causes no error. Checks
 * are counted because a page makes none while it is suspended.
 */
const maxUnansweredChecks = 3;

/**
 * Connects to the hub of a workspace, which holds the live streams for all tabs. The hub runs in a
 * SharedWorker, or in this page if the browser has no SharedWorker or cannot load its script.
 * @param receive called with each message of the hub
 */
export function connectHub(
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  receive: (message: HubMessage) => void,
): HubConnection {
  const connectHere = () => connectPage(workspaceId, userId, receive);
  if (!("SharedWorker" in globalThis)) return connectHere();
  let current = connectWorker(workspaceId, userId, receive, () => {
    current.close();
    current = connectHere();
  });
  return {
    send: (message) => current.send(message),
    rejoin: () => current.rejoin(),
    close: () => current.close(),
  };
}

/** @param onFailed called if the script of the worker cannot be loaded */
function connectWorker(
  workspaceId: string,
  userId: string,
  receive: (message: HubMessage) => void,
  onFailed: () => void,
): HubConnection {
  const silence = createSilence(() => performance.now());
  /** Whether the hub should send messages: it sends none to a tab that it has removed. */
  let hasJoined = false;
  /** Whether the worker has died, so that the tab needs a new one. */
  let isDead = false;
  let hasAnswered = false;
  let unansweredChecks = 0;
  const open = () => {
    const worker = new SharedWorker(trustedScriptUrl(workerUrl), { type: "module" });
    hasAnswered = false;
    unansweredChecks = 0;
    // Some browsers also report errors of a running worker, which has answered.
    worker.onerror = () => {
      if (!hasAnswered && worker.port === port) onFailed();
    };
    worker.port.onmessage = ({ data }: MessageEvent<HubMessage>) => {
      silence.restart();
      hasAnswered = true;
      if (data.type === "removed") hasJoined = false;
      receive(data);
    };
    return worker.port;
  };
  /** Undefined once the connection is closed. */
  let port: MessagePort | undefined = open();
  const timer = setInterval(() => {
    if (!hasAnswered && ++unansweredChecks === maxUnansweredChecks) return onFailed();
    if (!silence.check() || !hasJoined) return;
    hasJoined = false;
    isDead = true;
    receive({ type: "removed" });
  }, checkMs);
  const send = (message: TabMessage) => port?.postMessage(message);
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
  const join = () => {
    silence.restart();
    hasJoined = true;
    send({ type: "hello", workspaceId, userId, isHidden: document.hidden });
  };
  join();
  return {
    send,
    rejoin() {
      if (isDead) {
        port?.close();
        port = open();
      }
      isDead = false;
      join();
    },
    close() {
      clearInterval(timer);
      removeEventListener("pagehide", leave);
      removeEventListener("pageshow", comeBack);
      removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      leave();
      port?.close();
      port = undefined;
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
