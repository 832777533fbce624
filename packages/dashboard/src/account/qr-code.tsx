// A QR code, always dark on light: many cameras read nothing else.
import { generate } from "lean-qr";

/** Light modules around it, which readers need to find it. */
const margin = 4;

const pathOf = (text: string): { readonly size: number; readonly path: string } => {
  const code = generate(text);
  let path = "";
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      if (code.get(x, y)) path += `M${x} ${y}h1v1h-1z`;
    }
  }
  return { size: code.size, path };
};

export const QrCode = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const { size, path } = pathOf(text);
  const side = size + 2 * margin;
  return (
    <svg
      className="qr-code"
      role="img"
      aria-label={label}
      viewBox={`${-margin} ${-margin} ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <rect x={-margin} y={-margin} width={side} height={side} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  );
};
