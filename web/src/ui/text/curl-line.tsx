import { Link } from "../link.tsx";
import { CodeBlock } from "./code-block.tsx";

interface CurlLineProps {
  /** Path below `/api/public`. */
  readonly path: string;
  /**
   * JSON body; undefined for a GET. The command puts it between single quotes for the shell. A
   * single quote ends them, so that the shell can insert a variable: `'"$OPENAI_API_KEY"'`.
   */
  readonly body?: string | undefined;
  /**
   * The credential that the call needs: a key of the workspace, or the token of the agent. Default:
   * key.
   */
  readonly credential?: "key" | "token";
  /**
   * Path of the screen that issues the credential; undefined if the text around the call says where
   * it comes from.
   */
  readonly credentialHref?: string | undefined;
}

/**
 * A call of the API with curl, to copy. It takes the credential from a variable, so that the
 * credential is not in the shell's history.
 */
export function CurlLine({ path, body, credential = "key", credentialHref }: CurlLineProps) {
  const variable = credential === "key" ? "BECKON_KEY" : "BECKON_TOKEN";
  const lines = [
    `curl "${location.origin}/api/public${path}"`,
    `-H "x-api-key: $${variable}"`,
    ...(body === undefined ? [] : ['-H "content-type: application/json"', `-d '${body}'`]),
  ];
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <CodeBlock label="curl command" code={lines.join(" \\\n  ")} />
      {credentialHref === undefined ? null : (
        <p className="text-label text-ink-3">
          Set <code className="font-mono">{variable}</code> to{" "}
          <Link href={credentialHref}>
            {credential === "key" ? "an API key" : "the agent's API token"}
          </Link>
          .
        </p>
      )}
    </div>
  );
}
