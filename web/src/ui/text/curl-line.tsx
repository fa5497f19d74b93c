import { CodeBlock } from "./code-block.tsx";

interface CurlLineProps {
  /** Path below `/api/public`. */
  readonly path: string;
  /** JSON to send, quoted for a shell by `'`. Without it the call is a GET. */
  readonly body?: string | undefined;
  /** Whose credential it needs: a key of the workspace, or the token of the agent. */
  readonly credential?: "key" | "token";
}

/** A call of the API by curl, to copy. The credential stays out of the history of the shell. */
export function CurlLine({ path, body, credential = "key" }: CurlLineProps) {
  const variable = credential === "key" ? "BECKON_KEY" : "BECKON_TOKEN";
  const lines = [
    `curl "${location.origin}/api/public${path}"`,
    `-H "x-api-key: $${variable}"`,
    ...(body === undefined ? [] : ['-H "content-type: application/json"', `-d '${body}'`]),
  ];
  return <CodeBlock label="curl command" code={lines.join(" \\\n  ")} />;
}
