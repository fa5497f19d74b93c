import { CurlLine, ShownOnceDialog } from "../ui/index.ts";

interface NewSecretProps {
  readonly secret: string;
  readonly title: string;
  readonly scopes: readonly string[];
  readonly close: () => void;
}

/** Shows the secret of a key, once, with a call to try it. */
export function NewSecret({ secret, title, scopes, close }: NewSecretProps) {
  return (
    <ShownOnceDialog secret={secret} title={title} label="API key" onStored={close}>
      <div className="flex min-w-0 flex-col gap-1">
        <p className="text-label font-semibold text-ink-2">Try it, with the key in BECKON_KEY</p>
        {scopes.includes("agents:invoke") ? (
          <CurlLine path="/agents/AGENT_ID/invoke" body={'{"input": "Hello"}'} />
        ) : (
          <CurlLine path={`/${readableBy(scopes)}`} />
        )}
      </div>
    </ShownOnceDialog>
  );
}

/** Returns the name of a list that a key with these scopes can read, for the example call. */
function readableBy(scopes: readonly string[]): string {
  const lists = ["agents", "runs", "providers", "keys", "usage", "members", "audit"];
  return lists.find((name) => scopes.includes(`${name}:read`)) ?? "agents";
}
