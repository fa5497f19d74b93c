export { hasZlibHeader } from "./zlib-header.ts";
