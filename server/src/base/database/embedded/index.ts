export { type Embedded, type EmbeddedOptions, startEmbedded } from "./start-embedded.ts";
