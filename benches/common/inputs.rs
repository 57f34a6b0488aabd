//! Inputs that every run generates anew, the same ones each time.

use std::hint::black_box;

/// The size of the large inputs in bytes.
pub(crate) const MB: usize = 1 << 20;

/// Pseudo-random numbers (xorshift), so that inputs are the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    /// A sequence of its own for each seed, which is not 0.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }

    /// One of several, the first ones more often than the last, as words in a language are.
    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.below(from.len()) * self.below(from.len()) / from.len();
        from[at]
    }
}

const ENGLISH: &str = "the of and to in a is that for it as was with be by on not he his but at are this have from or had \
    an they which one you were all her she there would their we him been has when who will no more if out so up said what \
    its about than into them can only other time new some could these two may first then do any like my now over such our \
    man me even most made after also did many off before must well back through years where much your way down should \
    because long each just state people too good world still see men work day get here between both life being under \
    three never know same last another while us might great go year since come against right came take used himself few \
    house use place during high without again home around small however found thought went say part once general upon \
    school every don't it's configuration environment synchronization prompt workbench provider injected conversation \
    measurement responsibility layers";

const SYLLABLES: &str = "ba co di fu ge ha ji ka lo mi nu pe ra si to vu we xi yo za ing tion er est ment";

const CHINESE: &str = "的 了 我们 今天 可以 使用 这个 系统 提示 缓存 模型 请求 文件 目录 工具 消息 注入 当前 工作 如果 需要 修改 代码 测试 \
    运行 结果 错误 信息 用户 输入 输出 和 是 在 不 有 就 也 都 而 及 与 着 或 一个 没有 因为 所以 但是 然后 时候 已经 开始 进行 通过 问题 \
    方法 数据 服务 接口 返回 参数 类型 函数 变量 对象 应该 必须 注意 保持 避免 检查 确认 完成 任务 计划 步骤 说明 文档 规则 约束 上下文 语言 \
    中国 北京 上海 技术 发展 经济 社会 研究 学习 生活 世界 国家 公司 市场 产品 管理 项目 团队 客户 设计 实现 优化 性能 安全 权限 配置 环境 \
    变化 影响 原因 分析 解决 方案 支持 提供 包括 其中 以及 由于 根据 关于 对于 非常 比较 更加 特别 主要 重要 一般 具体 不同 相同 之间 之后 之前";

const NAMES: &str = "count index buffer parse_line Result Option self text range builder HashMap layerId fn_name request_body \
    maxTokens error_kind span origin Cursor into_iter";

fn words(list: &'static str) -> Vec<&'static str> {
    list.split_whitespace().collect()
}

/// English prose in lines of about eighty characters; three words in a hundred are made up.
pub(crate) fn english(len: usize, seed: u64) -> String {
    let (words, syllables, mut random) = (words(ENGLISH), words(SYLLABLES), Random::new(seed));
    let mut text = String::with_capacity(len + 100);
    let mut line = 0;
    while text.len() < len {
        let start = text.len();
        if random.below(100) < 3 {
            for _ in 0..2 + random.below(3) {
                text.push_str(random.pick(&syllables));
            }
        } else {
            text.push_str(random.pick(&words));
        }
        if random.below(9) == 0 {
            text.push([',', '.', ';', ':'][random.below(4)]);
        }
        line += text.len() - start;
        text.push(if line > 75 { '\n' } else { ' ' });
        line = if line > 75 { 0 } else { line + 1 };
    }
    text
}

/// Chinese prose: clauses of three to eleven words; now and then any ideograph.
pub(crate) fn chinese(len: usize, seed: u64, punctuation: bool) -> String {
    let (words, mut random) = (words(CHINESE), Random::new(seed));
    let mut text = String::with_capacity(len + 100);
    while text.len() < len {
        for _ in 0..3 + random.below(9) {
            text.push_str(random.pick(&words));
            if random.below(16) == 0 {
                text.extend(char::from_u32(0x4E00 + random.below(0x2000) as u32));
            }
        }
        if punctuation {
            text.push_str(["，", "。", "、", "，", "；", "：", "。\n"][random.below(7)]);
        }
    }
    text
}

/// Lines of code, indented.
pub(crate) fn code(len: usize, seed: u64) -> String {
    let (names, mut random) = (words(NAMES), Random::new(seed));
    let mut text = String::with_capacity(len + 100);
    while text.len() < len {
        let (a, b, n) = (random.pick(&names), random.pick(&names), random.below(5000));
        text.push_str(&" ".repeat(random.below(4) * 4));
        text.push_str(&match random.below(6) {
            0 => format!("let {a}_{n} = {b}.map(|x| x + {n})?;\n"),
            1 => format!("if {a} == {n} && !{b}.is_empty() {{\n"),
            2 => "}\n\n".to_owned(),
            3 => format!("// {a} is {b} when {n} holds\n"),
            4 => format!("pub fn {a}{n}(&mut self, {b}: &str) -> u32 {{\n"),
            _ => format!("assert_eq!({a}[{n}], \"{b}-{n}\");\n"),
        });
    }
    text
}

/// One line of JSON.
pub(crate) fn json_line(len: usize, seed: u64) -> String {
    let (names, mut random) = (words(NAMES), Random::new(seed));
    let mut text = String::with_capacity(len + 100);
    while text.len() < len {
        text.push_str(&format!(
            "{{\"{}\":{},\"{}\":\"",
            random.pick(&names),
            random.below(99999),
            random.pick(&names)
        ));
        text.push_str(&english(20, 1 + random.below(1 << 30) as u64).replace('\n', " "));
        text.push_str("\"},");
    }
    text
}

/// Characters of base64 without a break.
pub(crate) fn base64(len: usize, seed: u64) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut random = Random::new(seed);
    (0..len).map(|_| char::from(ALPHABET[random.below(64)])).collect()
}

/// Walks through inputs again and again, so that no memo of one input makes the next call cheaper.
pub(crate) fn turns<T>(inputs: Vec<T>, mut work: impl FnMut(&T)) -> impl FnMut() {
    let mut at = 0;
    move || {
        work(black_box(&inputs[at % inputs.len()]));
        at += 1;
    }
}
