// An import that names its file needs no search. Node asks the disk about each of them nevertheless: whether it is there, where its
// links lead, what its package says. A start of the server has some 2,000.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, resolveByNode) {
    const [file, type] = /^\.\.?\/.*\.([jt])s$/.exec(specifier) ?? [];
    if (file === undefined || !context.conditions.includes("import")) {
      return resolveByNode(specifier, context);
    }
    const { href } = new URL(file, context.parentURL);
    return {
      url: href,
      format: type === "t" ? "module-typescript" : undefined,
      shortCircuit: true,
    };
  },
});
