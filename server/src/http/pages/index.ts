export { linkPages, serveLinkPage } from "./link-pages.ts";
