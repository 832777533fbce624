// Markdown files can be imported as text.
declare module "*.md?raw" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: Vite exports it this way.
  export default text;
}
