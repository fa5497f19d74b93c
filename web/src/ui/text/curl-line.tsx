import { CodeBlock } from "./code-block.tsx";

interface CurlLineProps {
  /** Path below `/api/public`. */
  readonly path: string;
  /**
   * JSON body; undefined for a GET. It must not contain single quotes, because the command puts it
   * between single quotes for the shell.
   */
  readonly body?: string | undefined;
  /**
   * The credential that the call needs: a key of the workspace, or the token of the agent. Default:
   * key.
   */
  readonly credential?: "key" | "token";
}

/**
 * A call of the API with curl, to copy. It takes the credential from a variable, so that the
 * credential is not in the shell's history.
 */
export function CurlLine({ path, body, credential = "key" }: CurlLineProps) {
  const variable = credential === "key" ? "BECKON_KEY" : "BECKON_TOKEN";
  const lines = [
    `curl "${location.origin}/api/public${path}"`,
    `-H "x-api-key: $${variable}"`,
    ...(body === undefined ? [] : ['-H "content-type: application/json"', `-d '${body}'`]),
  ];
  return <CodeBlock label="curl command" code={lines.join(" \\\n  ")} />;
}
