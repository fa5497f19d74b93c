export { readYaml } from "./read-yaml.ts";
export { yamlItems } from "./write-yaml.ts";
export { readYamlBody, YamlText } from "./yaml-text.ts";
