/* outer /* inner */
still */
#[derive(Debug)]
struct Point<'a> { x: &'a str, y: u32 }
fn main() {
    let s = r#"raw "text"
of lines"#;
    println!("{}", s); // 1
}
