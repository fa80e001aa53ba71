// Types for tsc --checkJs: of the libraries in assets/vendor, as far as the page uses them.

declare class uPlot {
  constructor(options: any, data: any, root: HTMLElement);
  setData(data: any): void;
  setSelect(select: { left: number, top: number, width: number, height: number }, fire?: boolean): void;
  setSize(size: { width: number, height: number }): void;
  destroy(): void;
  posToVal(position: number, scale: string): number;
  valToPos(value: number, scale: string): number;
  static paths: any;
  [name: string]: any;
}
