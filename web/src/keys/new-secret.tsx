import { CodeBlock, ShownOnceDialog } from "../ui/index.ts";

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
        <CodeBlock code={exampleOf(scopes)} label="curl command" />
      </div>
    </ShownOnceDialog>
  );
}

/** Without the secret, which would stay in the history of the shell. */
function exampleOf(scopes: readonly string[]): string {
  const api = `${location.origin}/api/public`;
  const header = '-H "x-api-key: $BECKON_KEY"';
  if (scopes.includes("agents:invoke"))
    return [
      `curl ${api}/agents/AGENT_ID/invoke \\`,
      `  ${header} \\`,
      `  -H "content-type: application/json" -d '{"input": "Hello"}'`,
    ].join("\n");
  const readable = ["agents", "runs", "providers", "keys", "usage", "members", "audit"].find(
    (name) => scopes.includes(`${name}:read`),
  );
  return `curl ${api}/${readable ?? "agents"} ${header}`;
}
