export { bindingOfSenderSecret } from "./secret-binding.ts";
