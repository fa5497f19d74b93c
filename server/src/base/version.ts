import manifest from "../../package.json" with { type: "json" };

/** This build's version, for example `0.1.0`. */
export const version: string = manifest.version;
