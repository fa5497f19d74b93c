import { lazyPart } from "../ui/lazy-part.tsx";
import { LongText } from "../ui/text/long-text.tsx";

/**
 * Renders a model's text as Markdown. Raw HTML is left out, and images become links that show their
 * host. The code of the renderer is loaded on first use; until then the text is shown unformatted.
 */
export const Markdown = lazyPart(async () => (await import("./rendered.tsx")).Rendered, LongText);
