import { useSyncExternalStore } from "react";

function subscribe(changed: () => void): () => void {
  addEventListener("online", changed);
  addEventListener("offline", changed);
  return () => {
    removeEventListener("online", changed);
    removeEventListener("offline", changed);
  };
}

/**
 * Says that the browser is offline. The notice is hidden if the server runs on the same machine,
 * because the server can then be reached without a network.
 */
export function OfflineNotice() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  const isLocal = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  return (
    <div role="status">
      {isOnline || isLocal ? null : (
        <p className="border-rule border-b bg-brass-soft px-4 py-2 text-brass text-dense">
          This browser is offline. What you see can be outdated, and nothing can be saved.
        </p>
      )}
    </div>
  );
}
