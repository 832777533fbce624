// Documents can be imported as the text that they are.
declare module "*.md?raw" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: how the build gives it.
  export default text;
}
